"""Run a program under its profiler: ``python -m harness.sampling FILE WORD ...``.

FILE is the profiler's own file. The program and its children are sampled from their start to their
end. Their folded stacks become one file of the task, ``profile.folded.gz``. A task leaves it if it
succeeds, and a service if it is stopped. A profile that fails is a line of the log: the exit code
is the program's.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from harness import log
from harness.profilers import Profiler, profiler
from harness.task import ConfigurationError

FILE = "profile.folded.gz"


def main(
    file: str, words: list[str], variables: Mapping[str, str], client: Callable[[], Any]
) -> int:
    """Run a program to its end, leave its profile if all went well, and return its exit code.

    ``client`` makes a client of S3.
    """
    chosen = profiler(variables)
    with tempfile.TemporaryDirectory(prefix="tidemark-profile-") as name:
        folder = Path(name)
        try:
            process = chosen.start(Path(file), folder, words, variables)
        except (ConfigurationError, OSError, subprocess.TimeoutExpired) as reason:
            log.info("Profiler", f"No profile: {reason}")
            return _run_alone(words, variables)
        stopped = threading.Event()

        def stop(*_: object) -> None:
            stopped.set()
            chosen.stop(process, folder)

        signal.signal(signal.SIGTERM, stop)
        code = chosen.exit_code(process.wait(), folder)
        # A stop is how a service ends, and only services have the sign that they are ready.
        if code == 0 or (stopped.is_set() and "TIDEMARK_READY" in variables):
            _leave(chosen, folder, variables["TIDEMARK_ARTEFACTS"], client)
    return code


def _run_alone(words: list[str], variables: Mapping[str, str]) -> int:
    process = subprocess.Popen(words, env=dict(variables))
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code


def _leave(chosen: Profiler, folder: Path, place: str, client: Callable[[], Any]) -> None:
    try:
        stacks = chosen.stacks(folder)
        if not stacks:
            raise ValueError("the profiler wrote no stack")
        _upload(client(), stacks, place)
    except (OSError, ValueError, LookupError, BotoCoreError, ClientError) as reason:
        log.info("Profiler", f"No profile: {reason}")


def _upload(client: Any, stacks: Counter[str], place: str) -> None:  # noqa: ANN401 (made at run time)
    text = "".join(f"{stack} {samples}\n" for stack, samples in sorted(stacks.items()))
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    # Without a time the same stacks are the same bytes.
    body = gzip.compress(text.encode(), mtime=0)
    client.put_object(Bucket=bucket, Key=prefix + FILE, Body=body)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:], os.environ, lambda: Session().create_client("s3")))
