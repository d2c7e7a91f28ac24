"""Campaign that causes faults one after the other and judges how their runs end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

from tests.cpu_shares import MOST_PERCENT
from tests.system.faults import checks
from tests.system.faults.fault import Ending, Fault, Verdict
from tests.system.faults.ground import Ground, NeverHappened

_HEALTHY = Ending("complete", "", 2)


def campaign(faults: Sequence[Fault], state: Path) -> Iterator[Verdict]:
    """Yield a verdict for each fault; the faults of one deployment share a cloud."""
    by_deadline = sorted(faults, key=lambda fault: fault.logs_deadline_seconds)
    for deadline, group in groupby(by_deadline, lambda fault: fault.logs_deadline_seconds):
        with closing(Ground(state, deadline)) as here:
            for fault in group:
                yield _verdict(here, fault)


def _verdict(here: Ground, fault: Fault) -> Verdict:
    verdict = Verdict(fault)
    try:
        runs = fault.act(here)
    except NeverHappened as error:
        verdict.problems.append(str(error))
        return verdict
    finally:
        here.replaced.restore()
    verdict.endings = [checks.ending(here, run) for run in runs]
    if len(runs) != len(fault.endings):
        verdict.problems.append(f"{len(runs)} runs instead of {len(fault.endings)}")
    for expected, actual in zip(fault.endings, verdict.endings, strict=False):
        if not expected.fits(actual):
            verdict.problems.append(f"the run ended as {actual}; expected {expected}")
    for run in runs:
        verdict.problems += checks.problems(here, run)
        verdict.problems += checks.problems_of_resume(here, run)
    verdict.problems += checks.duplicates(here)
    healthy = here.wait_for_end(here.start(tasks=1))
    if (after := checks.ending(here, healthy)) != _HEALTHY:
        verdict.problems.append(f"the next run ended as {after}")
    verdict.problems += [
        f"{work} take {work.percent:.0f} %, more than {MOST_PERCENT:g} %"
        for work in here.works
        if work.percent > MOST_PERCENT
    ]
    here.works.clear()
    return verdict
