"""Run the command of a test, a line of shell: ``python -m harness.command LINE``.

The command logs its figures itself, or a benchmark tool writes its file of results, as JSON, to the
path in ``TIDEMARK_RESULTS``: each figure in it is logged. So are the time of the whole command, and
the CPU time of all processes that it started and waited for.

Exit codes: the command's own, and 1 if its file of results cannot be read.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import IO

from harness import log
from harness.benchmarks import TOOLS, figures, in_base_unit
from harness.machine import installed_digest, log_machine

_PATIENCE_SECONDS = 5


def main(line: str) -> int:
    """Run a line of shell; return the exit code of the task."""
    log_machine(
        version=os.environ.get("TIDEMARK_VERSION", ""),
        package=os.environ.get("TIDEMARK_PACKAGE", ""),
        package_digest=installed_digest(),
    )
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        results = Path(folder, "results.json")
        began, used = time.perf_counter(), _cpu_seconds()
        # The shell passes no signal on; the task's own watcher kills what is left.
        program = subprocess.Popen(
            ["sh", "-c", line],
            env={**os.environ, "TIDEMARK_RESULTS": str(results)},
            stderr=subprocess.PIPE,
        )
        assert program.stderr
        last = [line]
        copying = threading.Thread(target=_copy, args=(program.stderr, last), daemon=True)
        copying.start()
        code = program.wait()
        seconds = time.perf_counter() - began
        # A process that the command left may hold its errors open.
        copying.join(_PATIENCE_SECONDS)
        if code:
            code = code if code > 0 else 128 - code
            log.error("Command", f"The command ended with exit code {code}: {last[0]}")
            return code
        log.info("Command", f"Command took {seconds:.6f} s")
        log.info("Command", f"Command used {_cpu_seconds() - used:.6f} s of CPU time")
        return _log_results(results) if results.is_file() else 0


def _cpu_seconds() -> float:
    """Return the CPU time of all ended children of this process, and of theirs [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _copy(errors: IO[bytes], last: list[str]) -> None:
    """Print what a program writes to its errors, and keep the last line, which says most."""
    with errors:
        for line in errors:
            sys.stderr.buffer.write(line)
            sys.stderr.flush()
            if text := line.decode(errors="replace").strip():
                last[0] = text


def _log_results(file: Path) -> int:
    """Log each figure of a file of results: first the number, since a name may have any text."""
    try:
        found = list(figures(json.loads(file.read_bytes())))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError) as error:
        known = ", ".join(TOOLS)
        reason = f"expected a file of {known}: {type(error).__name__} {error}"
        log.error("Command", f"TIDEMARK_RESULTS cannot be read; {reason}")
        return 1
    for each in found:
        value, unit = in_base_unit(each)
        name = " ".join(each.name.split())
        log.info("Benchmark", f"Benchmark {_digits(value)} {unit} of {name}")
    return 0


def _digits(value: float) -> str:
    """Return a number without an exponent, which no query reads."""
    return f"{Decimal(repr(value)):f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
