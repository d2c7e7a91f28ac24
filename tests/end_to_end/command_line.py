"""``tidemark`` as a process of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from suites.files import ROOT

TIDEMARK = Path(sys.executable).with_name("tidemark")
SMALL = ["--versions", "9.0.0,9.8.4", "--repetitions", "1", "--records", "2000"]


def tidemark(*arguments, stdin="", **options) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in this folder unless ``options`` say another."""
    return subprocess.run(
        [TIDEMARK, *arguments], input=stdin, capture_output=True, text=True, check=False,
        **{"cwd": ROOT, **options},
    )  # fmt: skip


@contextmanager
def up(command: Sequence[str | Path], **options) -> Iterator[str]:
    """Have ``tidemark up`` run while the context is open; give what it says first."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if line.startswith("Ctrl-C"):
                    break
            yield "".join(said)
        finally:
            # As Ctrl-C; a shell lets its background processes ignore SIGINT, and so these tests.
            process.send_signal(signal.SIGTERM)
            rest = process.stdout.read()
    assert (process.returncode, "Down." in rest) == (0, True)
