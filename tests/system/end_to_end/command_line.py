"""Command ``tidemark`` in a separate process."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tidemark.model.checkout import ROOT

TIDEMARK = Path(sys.executable).with_name("tidemark")
SMALL = [
    *("--versions", "9.0.0,9.8.4", "--repetitions", "1"),
    *("--set", "records=2000", "--layout", "trials"),
]
# The README's second run, which the fixture `ran` makes small.
README_RUN = [
    *("run", "rocksdb", "--versions", "9.0.0,9.8.4", "--repetitions", "5"),
    *("--note", "does 9.8 ingest faster?"),
]


def tidemark(*arguments, stdin="", **options) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, by default in the repository."""
    return subprocess.run(
        [TIDEMARK, *arguments], input=stdin, capture_output=True, text=True, check=False,
        **{"cwd": ROOT, **options},
    )  # fmt: skip


@contextmanager
def up(command: Sequence[str | Path], **options) -> Iterator[str]:
    """Run ``tidemark up`` while the context is open; yield its first output."""
    with until_killed(command, **options) as (process, output):
        yield output
        # SIGTERM acts as Ctrl-C; processes in the background of a shell ignore SIGINT.
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        process.wait()
    assert (process.returncode, "Down." in rest) == (0, True)


@contextmanager
def until_killed(
    command: Sequence[str | Path], **options
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``tidemark up``, and kill it at the end; yield its process and its first output."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Ctrl-C"):
                    break
            yield process, "".join(lines)
        finally:
            process.kill()
