"""Stored runs of the suite: planned, measured, and failed."""

import math
import random
from dataclasses import fields, replace
from datetime import timedelta

from tests.plans import RUN, STARTED, plan_of
from tests.unit.fakes import FakeBucket
from tidemark.figures.trial_status import labelled
from tidemark.model.metric import Metric
from tidemark.model.outcome import Outcome
from tidemark.model.results import (
    Exclusion,
    Exclusions,
    Rate,
    Sample,
    TaskResult,
    TestResult,
    TrialResult,
    Usage,
)
from tidemark.report.blocks import Chart
from tidemark.store import keys
from tidemark.store.columns import timestamp

ENVIRONMENT = {
    "arch": "x86_64", "cores": 2, "cpu_model": "AMD EPYC 7R13", "host": "ip-10-0-0-7",
    "kernel": "6.1.0", "memory": 8 * 2**30, "package": "rocksdict", "package_digest": "ab12",
}  # fmt: skip
TYPICAL = {"ingest": 700_000, "compaction": 2_000_000}
HOSTILE = (
    '</script><script>alert(1)</script><img src="//x.example/a.png" onerror=a()>|*`_ [a](b) ~~&lt;'
    " @all a/b#12 GH-3"
)


def planned(
    versions=("8.8.1", "9.0.0", "9.8.4"), repetitions=3, note="", tasks=1, name=RUN, **more
):
    fields = {"versions": list(versions), "repetitions": repetitions, "note": note, "tasks": tasks}
    return plan_of({**fields, **more}, name=name)


def measured_test(plan, trial, test, numbers, environment):
    started = STARTED + timedelta(seconds=12 * trial.trial + (6 if test.name != "ingest" else 0))
    tasks = tuple(
        TaskResult(
            index=n,
            status="ok",
            task_arn=f"arn:aws:ecs:eu-west-2:1:task/c/{trial.trial:03d}{test.name}{n}",
            exit_code=0,
            started_at=started,
            stopped_at=started + timedelta(seconds=5),
            image_digest="sha256:cd34",
            log_stream=f"rocksdb/rocksdb/{trial.trial:03d}{test.name}{n}",
        )
        for n in range(plan.request.tasks)
    )
    (metric,) = test.metrics
    samples = tuple(
        Sample(
            metric=metric.name,
            log_stream=task.log_stream,
            logged_at=f"{started:%Y-%m-%d %H:%M:%S}.000",
            job=None,
            value_text=str(value),
            value=value,
            records=1_000_000,
        )
        for task in tasks
        for value in [
            round(TYPICAL[test.name] * numbers.gauss(1, 0.03), 1) for _ in range(test.jobs)
        ]
    )
    values = [sample.value for sample in samples]
    rate = Rate(
        metric=metric.name, unit=metric.unit, direction=metric.direction,
        value=math.fsum(values) / len(values), samples=len(values), expected=len(values),
        not_finite=0, stddev=None, min=min(values), max=max(values), records=None,
    )  # fmt: skip
    return TestResult(
        test=test.name, status="ok", started_at=started, ended_at=started + timedelta(seconds=5),
        tasks=tasks, rates=(rate,), samples=samples, environments=(environment,),
        log_group="/Tidemark/rocksdb", insights_bytes=2_000_000,
    )  # fmt: skip


def measured(plan, environment=ENVIRONMENT):
    """Return every trial of a plan, measured."""
    numbers = random.Random(7)
    return [
        TrialResult(
            run_id=plan.run_id, **trial.model_dump(), status="ok", reason="",
            tests=tuple(
                labelled(measured_test(plan, trial, test, numbers, environment), trial.axes)
                for test in plan.suite.tests
            ),
        )
        for trial in plan.trials
    ]  # fmt: skip


def failed(trial, reason="its container ended with exit code 1"):
    """Return a trial whose first test failed, with the samples that it had logged."""
    first, *rest = trial.tests
    rates = tuple(rate.model_copy(update={"value": None}) for rate in first.rates)
    tests = [
        first.model_copy(update={"status": "failed", "reason": reason, "rates": rates}),
        *(TestResult(test=test.test, status="skipped", reason="ingest failed") for test in rest),
    ]
    changes = {"status": "failed", "reason": f"ingest: {reason}", "tests": tuple(tests)}
    return trial.model_copy(update=changes)


def left_out(trial, reason):
    return Exclusions({f"{trial:03d}": Exclusion(excluded=True, reason=reason, at=STARTED)})


def with_values(trial, test, values):
    """Return a trial in which a test's one task logged ``values``."""
    result = next(result for result in trial.tests if result.test == test)
    first, rate = result.samples[0], result.rates[0]
    samples = tuple(replace(first, value=value, value_text=str(value)) for value in values)
    mean = rate.model_copy(
        update={"value": math.fsum(values) / len(values), "samples": len(values)}
    )
    changed = result.model_copy(update={"samples": samples, "rates": (mean,)})
    tests = tuple(changed if result.test == test else result for result in trial.tests)
    return trial.model_copy(update={"tests": tests})


def with_ingest(plan, **changed):
    """Return a plan whose suite has another metric of ``ingest``."""
    ingest, *rest = plan.suite.tests
    metric = Metric(**{**ingest.metrics[0].model_dump(exclude_unset=True), **changed})
    tests = (ingest.model_copy(update={"metrics": (metric,)}), *rest)
    return plan.model_copy(update={"suite": plan.suite.model_copy(update={"tests": tests})})


def ingest_of(plan, rates):
    """Return a plan's trials with these rates of ``ingest``, by version in their order."""
    left = {version: iter(values) for version, values in rates.items()}
    return [with_values(t, "ingest", [next(left[t.version])]) for t in measured(plan)]


def on_machine(trial, **differing):
    environment = {**ENVIRONMENT, **differing}
    tests = tuple(t.model_copy(update={"environments": (environment,)}) for t in trial.tests)
    return trial.model_copy(update={"tests": tests})


def using(trial, *seconds, **used):
    """Return a trial with this usage of ingest, logged these seconds after its start."""
    ingest, compaction = trial.tests
    known = dict.fromkeys(field.name for field in fields(Usage)) | used
    usages = tuple(
        Usage(
            **known
            | {
                "task_id": task.task_id,
                "logged_at": timestamp(task.started_at + timedelta(seconds=s)),
            }
        )
        for task in ingest.tasks
        for s in seconds
    )
    return trial.model_copy(
        update={"tests": (ingest.model_copy(update={"usages": usages}), compaction)}
    )


def charts(report, of=""):
    """Return the charts of a report whose captions contain ``of``."""
    return [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Chart) and of in block.caption
    ]


def row(text, *cells):
    """Return the one row of a Markdown table that begins with ``cells``."""
    (found,) = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(cells)} |")]
    return [cell.strip() for cell in found.strip("|").split("|")]


def bucket_of(plan=None, trials=(), outcome=None, files=None):
    """Return the bucket of a run with its trials, its outcome and the files of its report."""
    bucket = FakeBucket()
    if plan:
        bucket.write(keys.plan(plan.run_id), plan.model_dump_json().encode())
        for name, body in (files or {}).items():
            bucket.write(keys.report(plan.suite.name, plan.run_id, name), body)
    for trial in trials:
        bucket.write(keys.trial(trial.run_id, trial.trial), trial.model_dump_json().encode())
    if outcome:
        bucket.write(keys.outcome(outcome.run_id), outcome.model_dump_json().encode())
    return bucket


def ended(run_id, status, reason="", **more):
    """Return the outcome of a run of two trials, one of them recorded."""
    return Outcome(
        run_id=run_id, suite="rocksdb", status=status, reason=reason, trials_planned=2,
        trials_done=1, ended_at=STARTED, execution_arn="arn", **more,
    )  # fmt: skip
