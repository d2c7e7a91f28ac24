"""Run a program under the profiler: ``python -m harness.sampling LIBRARY WORD ...``.

The program and its children are sampled from their start to their end. Their folded stacks become
one file of the task, ``profile.folded.gz``. A profile that fails is a line of the log: the exit
code is that of the program.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from harness import log
from harness.profiler import variables_of

FILE = "profile.folded.gz"
_NO_SAMPLES = "[INFO] No samples were collected"


def main(
    library: str, words: list[str], variables: Mapping[str, str], client: Callable[[], Any]
) -> int:
    """Run a program to its end, leave its profile if it succeeds, and return its exit code.

    ``client`` makes a client of S3.
    """
    with tempfile.TemporaryDirectory(prefix="tidemark-profile-") as folder:
        hz = int(variables["TIDEMARK_PROFILE_HZ"])
        code = _run(words, {**variables, **variables_of(Path(library), Path(folder), hz)})
        if code == 0:
            _leave(Path(folder), variables["TIDEMARK_ARTEFACTS"], client)
    return code


def _run(words: list[str], variables: Mapping[str, str]) -> int:
    process = subprocess.Popen(words, env=dict(variables))
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code


def _leave(folder: Path, place: str, client: Callable[[], Any]) -> None:
    try:
        stacks = merged(folder)
        if not stacks:
            raise ValueError("the profiler wrote no stack")
        _upload(client(), stacks, place)
    except (OSError, ValueError, BotoCoreError, ClientError) as reason:
        log.info("Profiler", f"No profile: {reason}")


def merged(folder: Path) -> Counter[str]:
    """Return the samples of all processes by stack; raise ValueError for a line of another form.

    A process that took next to no time has none.
    """
    stacks = Counter[str]()
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8", errors="replace")
        for line in text.removeprefix(_NO_SAMPLES).split("\n"):
            if not line.strip():
                continue
            stack, _, samples = line.rpartition(" ")
            stacks[stack] += int(samples)
    return stacks


def _upload(client: Any, stacks: Counter[str], place: str) -> None:  # noqa: ANN401 (made at run time)
    text = "".join(f"{stack} {samples}\n" for stack, samples in sorted(stacks.items()))
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    # Without a time the same stacks are the same bytes.
    body = gzip.compress(text.encode(), mtime=0)
    client.put_object(Bucket=bucket, Key=prefix + FILE, Body=body)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:], os.environ, lambda: Session().create_client("s3")))
