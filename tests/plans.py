"""Stored plans of RocksDB runs."""

from datetime import UTC, datetime

from tidemark.model.plan import Plan
from tidemark.model.request import resolve_request
from tidemark.model.suite_files import read_suites
from tidemark.run.new_plan import make_plan

RUN = "20261120T124455Z-abcdef"
STARTED = datetime(2026, 11, 20, 12, 44, 55, 123000, tzinfo=UTC)
EXECUTION = "arn:aws:states:eu-west-2:123456789012:execution:Run:by-hand"


DATABASES = {"database": ("postgresql", "mariadb")}


def with_axes(axes):
    """Return the shipped suite with axes."""
    return read_suites()["rocksdb"].model_copy(update={"axes": axes})


def plan_of(fields, *, suite=None, name=RUN, execution_arn=EXECUTION, started_at=STARTED) -> Plan:
    """Return the plan of a request with these fields, by default for the shipped suite."""
    suite = suite or read_suites()["rocksdb"]
    return make_plan(
        resolve_request({"suite": suite.name, **fields}, {suite.name: suite}),
        suite,
        name=name,
        execution_arn=execution_arn,
        started_at=started_at,
    )
