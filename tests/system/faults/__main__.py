"""``make faults``: cause every fault, print the verdicts and write docs/faults.md.

Names select single faults, ``--target`` those of ``make test`` or those that only ``make systems``
adds; a selection does not write the page.
``--json`` prints one line of JSON per fault. ``--calls`` copies the recorded calls into a folder.
The exit code is 1 if a fault has a problem or the policies do not fit the calls.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from rich.console import Console

from tests.system.faults.campaign import campaign
from tests.system.faults.catalogue import FAULTS
from tests.system.faults.fault import Fault, Target, Verdict
from tests.system.faults.ground import CALLS
from tests.system.faults.page import page
from tests.system.policies.proof import problems
from tests.system.policies.recording import read_recordings
from tidemark.model.checkout import ROOT

PAGE = ROOT / "docs" / "faults.md"
# The calls of these faults need every grant.
_OF_TEST = {fault for fault in FAULTS if fault.target == "test"}


def main() -> int:
    """Run the campaign; return the exit code."""
    arguments = _arguments()
    faults = _selection(arguments.names, arguments.target)
    console = Console(highlight=False, stderr=arguments.json)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="tidemark-faults-") as state:
        for verdict in campaign(faults, Path(state)):
            failures += bool(verdict.problems)
            _print_verdict(verdict, console)
            if arguments.json:
                print(json.dumps({"fault": verdict.fault.name, "problems": verdict.problems}))
        calls = Path(state) / CALLS
        if arguments.calls:
            shutil.copytree(calls, arguments.calls)
        of_policies = list(problems(read_recordings(calls), whole={*faults} >= _OF_TEST))
    for problem in of_policies:
        console.print(problem, soft_wrap=True, markup=False)
    console.print(f"{len(faults) - failures} of {len(faults)} faults ended as expected.")
    if faults == FAULTS and not failures and not of_policies:
        PAGE.write_text(page(faults), encoding="utf-8")
    return 1 if failures or of_policies else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.system.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FAULT")
    parser.add_argument("--target", choices=get_args(Target))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--calls", type=Path)
    return parser.parse_args()


def _selection(names: Sequence[str], target: Target | None) -> tuple[Fault, ...]:
    if unknown := set(names) - {fault.name for fault in FAULTS}:
        sys.exit(f"FAULT: {', '.join(sorted(unknown))} not known; docs/faults.md lists the names")
    return tuple(
        fault
        for fault in FAULTS
        if (fault.name in names or not names) and target in {None, fault.target}
    )


def _print_verdict(verdict: Verdict, console: Console) -> None:
    ends = ", ".join(f"{ending.status} ({ending.kept} rates kept)" for ending in verdict.endings)
    mark = "[red]not as expected[/]" if verdict.problems else "[green]as expected[/]"
    console.print(f"{verdict.fault.name:28} {mark}  {ends}", soft_wrap=True)
    for problem in verdict.problems:
        console.print(f"    {problem}", soft_wrap=True, markup=False)


if __name__ == "__main__":
    sys.exit(main())
