"""A program with its CPU time: ``python timed_program.py FILE WORD ...`` writes it into FILE [s].

It runs in the environment of a version, which has none of Tidemark's packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def main(file: Path, words: list[str]) -> int:
    """Run the program to its end, with its children; return its exit code."""
    code = subprocess.run(words, check=False).returncode
    times = os.times()
    file.write_text(str(times.children_user + times.children_system), encoding="ascii")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
