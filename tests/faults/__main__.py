"""``make faults``: bring every fault about, print the table and write it to docs/faults.md.

With names of faults it brings about only those, with ``--quick`` the quick ones; then nothing is
written. ``--json`` prints a line of JSON a fault. ``--calls`` leaves what roles called in a folder.
Exit code 1 if anything is not as expected, a call that IAM would deny among it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from suites.files import ROOT
from tests.faults.campaign import campaign
from tests.faults.catalogue import FAULTS
from tests.faults.fault import Fault, Verdict
from tests.faults.ground import CALLS
from tests.faults.page import page
from tests.policies.proof import problems
from tests.policies.recording import read_recordings

PAGE = ROOT / "docs" / "faults.md"
# What they call needs every grant.
_QUICK = {fault for fault in FAULTS if fault.quick}


def main() -> int:
    """Run the campaign; return the exit code."""
    arguments = _arguments()
    faults = _chosen(arguments.names, quick=arguments.quick)
    console = Console(highlight=False, stderr=arguments.json)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="tidemark-faults-") as state:
        for verdict in campaign(faults, Path(state)):
            bad += bool(verdict.problems)
            _tell(verdict, console)
            if arguments.json:
                print(json.dumps({"fault": verdict.fault.name, "problems": verdict.problems}))
        calls = Path(state) / CALLS
        if arguments.calls:
            shutil.copytree(calls, arguments.calls)
        wrong = list(problems(read_recordings(calls), whole={*faults} >= _QUICK))
    for problem in wrong:
        console.print(problem, soft_wrap=True, markup=False)
    console.print(f"{len(faults) - bad} of {len(faults)} faults ended as they must.")
    if faults == FAULTS and not bad and not wrong:
        PAGE.write_text(page(faults), encoding="utf-8")
    return 1 if bad or wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FAULT")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--calls", type=Path)
    return parser.parse_args()


def _chosen(names: Sequence[str], *, quick: bool) -> tuple[Fault, ...]:
    if unknown := set(names) - {fault.name for fault in FAULTS}:
        sys.exit(f"there is no fault {', '.join(sorted(unknown))}")
    return tuple(
        fault
        for fault in FAULTS
        if (fault.name in names or not names) and (fault.quick or not quick)
    )


def _tell(verdict: Verdict, console: Console) -> None:
    ends = ", ".join(f"{ending.status} ({ending.kept} rates kept)" for ending in verdict.endings)
    mark = "[red]not as expected[/]" if verdict.problems else "[green]as expected[/]"
    console.print(f"{verdict.fault.name:28} {mark}  {ends}", soft_wrap=True)
    for problem in verdict.problems:
        console.print(f"    {problem}", soft_wrap=True, markup=False)


if __name__ == "__main__":
    sys.exit(main())
