"""A program whose exit code is kept: ``python -IS guarded_program.py FOLDER WORD ...``.

The folder gets the number of this process, which a stop reaches, and the exit code. The module
imports nothing else of the harness, so that it begins at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

_PROCESS, _CODE = "guard", "exit-code"


def process(folder: Path) -> int | None:
    """Return the number of the process, None if it has not begun."""
    return _number(folder / _PROCESS)


def exit_code(folder: Path) -> int | None:
    """Return the exit code of the program, None if it has not ended."""
    return _number(folder / _CODE)


def _number(file: Path) -> int | None:
    return int(text) if file.is_file() and (text := file.read_text(encoding="ascii")) else None


def main(folder: Path, words: list[str]) -> int:
    """Run the program to its end; return its exit code."""
    stops = {signal.SIGTERM}
    # A stop may come as soon as the number is known; it waits for the program to be there.
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        (folder / _PROCESS).write_text(str(os.getpid()), encoding="ascii")
        program = subprocess.Popen(
            words,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, stops),  # noqa: PLW1509
        )
        signal.signal(signal.SIGTERM, lambda *_: program.terminate())
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
    code = program.wait()
    code = code if code >= 0 else 128 - code
    (folder / _CODE).write_text(str(code), encoding="ascii")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
