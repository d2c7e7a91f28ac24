"""Records for searches that find many of them."""

from __future__ import annotations

from copy import copy

from orm_sequence import case_of, new_plan, run_of
from tcms.management.models import Build
from tcms.testcases.models import TestCase
from tcms.testruns.models import TestRun

NAME = "Record"
_AT_ONCE = 1_000


def add(count: int) -> int:
    """Store as many test cases and test runs, of a plan of this name; return their number."""
    plan = new_plan(NAME)
    build = Build.objects.create(name="1", version=plan.product_version)
    case, run = case_of(plan, NAME), run_of(plan, build, NAME)
    for one, model in ((case, TestCase), (run, TestRun)):
        copies = (_numbered(one, number) for number in range(count))
        model.objects.bulk_create(copies, batch_size=_AT_ONCE)
    return count


def _numbered(record: TestCase | TestRun, number: int) -> TestCase | TestRun:
    new = copy(record)
    new.summary = f"{NAME} {number}"
    return new
