"""Stored plans of RocksDB runs."""

from datetime import UTC, datetime
from functools import cache

from tidemark.model.metric import Metric
from tidemark.model.plan import Plan
from tidemark.model.request import resolve_request
from tidemark.model.subject import Subject
from tidemark.model.suite_files import read_suites
from tidemark.run.ecs_resources import System
from tidemark.run.plan_run import make_plan

RUN = "20261120T124455Z-abcdef"
STARTED = datetime(2026, 11, 20, 12, 44, 55, 123000, tzinfo=UTC)
EXECUTION = "arn:aws:states:eu-west-2:123456789012:execution:Run:by-hand"


DATABASES = {"database": ("postgresql", "mariadb")}


@cache
def rocksdb():
    """Return the shipped suite with one metric a test, which decides: most tests need no more.

    It is in trials.
    """
    suite = in_trials()
    tests = [test.model_copy(update={"metrics": (_first_of(test),)}) for test in suite.tests]
    return suite.model_copy(update={"tests": tuple(tests)})


@cache
def in_trials():
    """Return the shipped suite of RocksDB without slices; its trials are longer than those are."""
    suite = read_suites()["rocksdb"]
    ends = {"layout": "trials", "until": None, "within_seconds": None}
    records = suite.parameters["records"].model_copy(update={"default": 200_000})
    return suite.model_copy(
        update={
            "tests": tuple(test.model_copy(update={"slices": None}) for test in suite.tests),
            "defaults": suite.defaults.model_copy(update=ends),
            "parameters": {**suite.parameters, "records": records},
        }
    )


def _first_of(test):
    return Metric(**test.metrics[0].model_dump(exclude_unset=True, exclude={"decides"}))


def with_axes(axes):
    """Return the suite with axes."""
    return rocksdb().model_copy(update={"axes": axes})


def naming(versions):
    """Return the suite ``rocksdb`` with versions of these names, which no package has."""
    subject = Subject(prepare=("sh",), form=".+", versions={name: name for name in versions})
    return rocksdb().model_copy(update={"subject": subject})


def plan_of(fields, *, suite=None, name=RUN, execution_arn=EXECUTION, started_at=STARTED) -> Plan:
    """Return the plan of a request with these fields, by default for the suite ``rocksdb``."""
    suite = suite or rocksdb()
    return make_plan(
        resolve_request({"suite": suite.name, **fields}, {suite.name: suite}),
        suite,
        name=name,
        execution_arn=execution_arn,
        started_at=started_at,
    )


def system_of(suite, **fields):
    """Return what a stack has for a suite, with some other fields."""
    given = {
        "task_definition": "task:1", "container": suite, "log_group": f"/T/{suite}",
        "stream_prefix": suite, "security_group": "sg-1",
    }  # fmt: skip
    return System(**given | fields)
