"""The work of the load through Django's models, without requests: its sequence, and many records.

The chapter "Hardware and performance" of Kiwi TCMS's documentation compares a sequence with the
same work without requests, to tell the time in the database from the other time.
"""

from __future__ import annotations

from copy import copy
from itertools import count

from django.contrib.auth import get_user_model
from tcms.management.models import Build, Classification, Priority, Product, Version
from tcms.testcases.models import TestCase, TestCaseStatus
from tcms.testplans.models import PlanType, TestPlan
from tcms.testruns.models import TestExecutionStatus, TestRun

_NUMBERS = count()
_RECORD = "Record"
_AT_ONCE = 1_000


def report(r: int) -> int:
    """Store ``r`` test runs of ``r`` test cases with a result each; return the results."""
    plan = _new_plan(f"ORM {next(_NUMBERS)}")
    cases = [_new_case(plan, number) for number in range(r)]
    passed = TestExecutionStatus.objects.filter(weight__gt=0).first()
    build = Build.objects.create(name="1", version=plan.product_version)
    runs = [_run_of(plan, build, f"Run {number}") for number in range(r)]
    for run in runs:
        run.save()
    results = 0
    for run in runs:
        for case in cases:
            results += _new_results(run, case, passed)
    return results


def add_records(number: int) -> int:
    """Store as many test cases and test runs, of a plan of this name; return their number."""
    plan = _new_plan(_RECORD)
    build = Build.objects.create(name="1", version=plan.product_version)
    case, run = _case_of(plan, _RECORD), _run_of(plan, build, _RECORD)
    for one, model in ((case, TestCase), (run, TestRun)):
        copies = (_numbered(one, place) for place in range(number))
        model.objects.bulk_create(copies, batch_size=_AT_ONCE)
    return number


def _new_plan(name: str) -> TestPlan:
    """Return a new plan for a new product; both have the name."""
    user = get_user_model().objects.filter(is_superuser=True).first()
    classification = Classification.objects.first()
    product = Product.objects.create(name=name, classification=classification)
    version = Version.objects.create(value=name, product=product)
    return TestPlan.objects.create(
        name=name,
        author=user,
        product=product,
        product_version=version,
        type=PlanType.objects.order_by("pk").first(),
    )


def _case_of(plan: TestPlan, summary: str) -> TestCase:
    """Return a case for the product of a plan, which is not stored yet."""
    return TestCase(
        summary=summary,
        author=plan.author,
        category=plan.product.category.first(),
        priority=Priority.objects.first(),
        case_status=TestCaseStatus.objects.filter(is_confirmed=True).first(),
    )


def _run_of(plan: TestPlan, build: Build, summary: str) -> TestRun:
    """Return a test run of a plan, which is not stored yet."""
    run = TestRun(summary=summary, manager=plan.author, plan=plan, build=build)
    # Version 10.0 stores the version of the product with each run, too.
    if hasattr(TestRun, "product_version"):
        run.product_version = plan.product_version
    return run


def _new_case(plan: TestPlan, number: int) -> TestCase:
    case = _case_of(plan, f"Case {number}")
    case.save()
    plan.add_case(case)
    return case


def _new_results(run: TestRun, case: TestCase, passed: TestExecutionStatus) -> int:
    created = run.create_execution(case=case)
    # Since version 11.0 it is a list.
    executions = created if isinstance(created, list) else [created]
    for execution in executions:
        execution.status = passed
        execution.save()
    return len(executions)


def _numbered(record: TestCase | TestRun, number: int) -> TestCase | TestRun:
    new = copy(record)
    new.summary = f"{_RECORD} {number}"
    return new
