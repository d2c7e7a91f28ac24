"""Runs of Kiwi TCMS at several sizes of its server, with known figures."""

from tests.plans import RUN, STARTED
from tidemark.model.checkout import ROOT
from tidemark.model.request import resolve_request
from tidemark.model.results import TaskResult, TestResult, TrialResult, Usage, no_rate
from tidemark.model.suite_files import read_suite
from tidemark.run.plan_run import make_plan

MEAN = {"half": 240.0, "one": 60.0, "two": 40.0}
"""The mean latency of the slower operation by size [ms]; the limit is 100."""
MEMORY = {"half": 950.0, "one": 1_400.0, "two": 1_500.0}
"""The memory that the server uses by size [MiB]."""
USERS = {"half": 8.0, "one": 16.0, "two": 30.0}
"""The supported users by size; 12 are asked for."""


def sized_plan():
    """Return the plan of two trials at each of three sizes."""
    suite = read_suite(ROOT / "suites" / "kiwi" / "suite.yaml", ROOT / "workloads")
    fields = {
        "suite": "kiwi", "versions": ["12.4"], "repetitions": 2, "parameters": {"users": 12},
        "axes": {"size": ["two", "half", "one"]},
    }  # fmt: skip
    return make_plan(
        resolve_request(fields, {"kiwi": suite}),
        suite,
        name=RUN,
        execution_arn="arn:aws:states:eu-west-2:123456789012:execution:Run:by-hand",
        started_at=STARTED,
    )


def sized_trials(plan, means=MEAN):
    """Return every trial of the plan with its figures."""
    return [_measured(plan, trial, means) for trial in plan.trials]


def _usage(task, memory):
    unknown = dict.fromkeys(("cpu", "network_in", "network_out", "disk_read", "disk_written"), None)
    return Usage(task_id=task, logged_at="2026-11-20 12:45:00.000", memory=memory, **unknown)


def _measured(plan, trial, means):
    size = trial.axes["size"]
    _, bounded, unbounded = plan.suite.tests
    latency, users = bounded.metrics[0], unbounded.metrics[0]
    figures = [
        ("bounded", latency, "mean", {"operation": "slow"}, means[size]),
        ("bounded", latency, "mean", {"operation": "fast"}, 5.0),
        ("bounded", latency, "p99", {"operation": "slow"}, 1900.0),
        ("unbounded", users, "mean", {}, USERS[size] + 2 * trial.repetition - 3),
    ]
    tests = [
        TestResult(
            test=name,
            status="ok",
            tasks=(TaskResult(index=1, status="ok", service="server", task_arn="arn:x/server"),),
            usages=(_usage("server", MEMORY[size]), _usage("load", 9_999.0)),
            rates=tuple(
                no_rate(metric, statistic, labels | trial.axes).model_copy(update={"value": value})
                for test, metric, statistic, labels, value in figures
                if test == name
            ),
        )
        for name in ("bounded", "unbounded")
    ]
    more = {"run_id": RUN, "status": "ok", "reason": "", "tests": tests}
    return TrialResult(**trial.model_dump(), **more)
