"""The claims of docs/verified.md that a run of one trial can confirm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aws.look_ups import AppliedQuotas
from tests.checks.account.stacks import Client, Update
from tidemark.client.deployed import Deployed
from tidemark.client.runs import Run
from tidemark.client.tables import SAVED, StatementFailed
from tidemark.model.outcome import Outcome
from tidemark.model.plan import Plan
from tidemark.model.results import TaskResult, TrialResult
from tidemark.money.capacity import QUOTAS, QuotaUnknown


class NotSeen(Exception):
    """A claim that this account does not confirm; the message says what was seen instead."""


@dataclass(frozen=True)
class Verified:
    """The deployed stack and its one run, after its end and a deployment of other settings."""

    client: Client
    app: Deployed
    run: Run
    plan: Plan
    trial: TrialResult
    outcome: Outcome
    update: Update | None
    """The second deployment; None before it, and if it failed."""

    @property
    def tasks(self) -> list[TaskResult]:
        """The tasks of all tests."""
        return [task for test in self.trial.tests for task in test.tasks]


Check = Callable[[Verified], str]
"""A function that returns what confirms a claim, or raises ``NotSeen``."""


def _seen(condition: object, evidence: str) -> str:
    if not condition:
        raise NotSeen(evidence)
    return evidence


def _deployed(verified: Verified) -> str:
    # A deployment that fails ends the command before any check.
    return f"two change sets made {verified.app.stack.arn}"


def _changed_in_place(verified: Verified) -> str:
    if verified.update is None:
        raise NotSeen("the deployment of other settings failed")
    changes, before, after = verified.update
    # CloudFormation lists, as Conditional, what may be replaced if an attribute changes.
    replaced = [each["LogicalResourceId"] for each in changes if each.get("Replacement") == "True"]
    replaced += [name for name in {**before, **after} if before.get(name) != after.get(name)]
    kinds = {each["ResourceType"] for each in changes}
    missing = sorted({"AWS::Lambda::Function", "AWS::Logs::LogGroup"} - kinds)
    lost = _lost_streams(verified, changes)
    evidence = (
        f"{len(changes)} resources changed; replaced: {_names(replaced)}; "
        f"types without a change: {_names(missing)}; lost log streams: {_names(lost)}"
    )
    return _seen(not (replaced or missing or lost), evidence)


def _lost_streams(verified: Verified, changes: list[dict[str, Any]]) -> list[str]:
    """Return the log streams of tasks that no changed log group has."""
    pages = verified.client("logs").get_paginator("describe_log_streams")
    found = {
        stream["logStreamName"]
        for change in changes
        if change["ResourceType"] == "AWS::Logs::LogGroup"
        for page in pages.paginate(logGroupName=change["PhysicalResourceId"])
        for stream in page["logStreams"]
    }
    return [name for task in verified.tasks if (name := task.log_stream or "?") not in found]


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _same_second(verified: Verified) -> str:
    return _seen(
        verified.plan.execution_arn == verified.run.execution_arn,
        f"the plan {verified.plan.run_id} is of execution {verified.plan.execution_arn}",
    )


def _functions_run(verified: Verified) -> str:
    name = verified.app.stack.outputs["RecordRatesFunction"]
    found = verified.client("lambda").get_function_configuration(FunctionName=name)
    outcome = verified.outcome
    return _seen(
        outcome.status == "complete",
        f"with {found['Runtime']} the run is {outcome.status} {outcome.reason}".strip(),
    )


def _layer(verified: Verified) -> str:
    name = verified.app.stack.outputs["RecordRatesFunction"]
    found = verified.client("lambda").get_function_configuration(FunctionName=name)
    layers = [layer["Arn"] for layer in found.get("Layers", [])]
    pinned = [layer for layer in layers if layer.endswith(":27")]
    return _seen(pinned, f"the layers of {name}: {', '.join(layers) or 'none'}")


def _times(verified: Verified) -> str:
    known = [task.started_at and task.stopped_at for task in verified.tasks]
    return _seen(all(known), f"{sum(map(bool, known))} of {len(known)} tasks have both times")


def _places(verified: Verified) -> str:
    known = [
        bool(task.pull_started_at and task.zone and task.image_digest) for task in verified.tasks
    ]
    return _seen(all(known), f"{sum(known)} of {len(known)} tasks have all three")


def _group(verified: Verified) -> str:
    arns = [task.task_arn for task in verified.tasks if task.task_arn]
    cluster = arns[0].split("/")[1]
    described = verified.client("ecs").describe_tasks(cluster=cluster, tasks=arns)["tasks"]
    groups = sorted({task.get("group", "none") for task in described})
    expected = f"{verified.run.run_id}-{verified.trial.trial}"
    return _seen(groups == [expected], f"the groups of the tasks: {', '.join(groups)}")


def _sweep(verified: Verified) -> str:
    name = verified.app.stack.outputs["SweepRunsFunction"]
    answer = verified.client("lambda").invoke(FunctionName=name)
    said = answer["Payload"].read().decode()
    return _seen("FunctionError" not in answer, f"SweepRuns answers {said}")


def _insights(verified: Verified) -> str:
    usages = sum(len(test.usages) for test in verified.trial.tests)
    unknown = "; ".join(test.usages_unknown for test in verified.trial.tests)
    return _seen(usages, f"{usages} events of the tasks are stored. {unknown}".strip())


def _tables(verified: Verified) -> str:
    statement = "SELECT count(*) AS n FROM rates WHERE run_id = ?"
    (row,) = verified.app.tables.ask(statement, [verified.run.run_id]).records()
    expected = sum(len(test.rates) for test in verified.trial.tests)
    return _seen(row["n"] == str(expected), f"{row['n']} of {expected} rows")


def _vended(verified: Verified) -> str:
    prefix = f"/aws/vendedlogs/states/{verified.app.stack.arn.split('/')[1]}"
    logs = verified.client("logs")
    groups = logs.describe_log_groups(logGroupNamePrefix=prefix)["logGroups"]
    names = [group["logGroupName"] for group in groups]
    found = [name for name in names if logs.describe_log_streams(logGroupName=name)["logStreams"]]
    return _seen(found, f"log groups with events: {', '.join(found) or 'none'}")


def _metrics(verified: Verified) -> str:
    stack = verified.app.stack.arn.split("/")[1]
    listed = verified.client("cloudwatch").list_metrics(
        Namespace="Tidemark", Dimensions=[{"Name": "stack", "Value": stack}]
    )
    names = sorted({metric["MetricName"] for metric in listed["Metrics"]})
    return _seen(names, f"metrics: {', '.join(names) or 'none'}")


def _systems(verified: Verified) -> str:
    # PrepareTrial fails without the resources of its suite.
    names = [test.test for test in verified.trial.tests if test.tasks]
    return _seen(names, f"the trial has tasks of the tests {', '.join(names) or 'none'}")


def _quotas(verified: Verified) -> str:
    quotas = AppliedQuotas(verified.client("service-quotas"))
    try:
        values = [f"{quota.name}: {quotas.value(quota):g}" for quota in QUOTAS]
    except QuotaUnknown as unknown:
        raise NotSeen(str(unknown)) from None
    return "; ".join(values)


def _event(verified: Verified) -> str:
    # The last state fails with NotTold if the bus does not accept the event of the run's end.
    status, cause = verified.app.runs.status(verified.run)
    return _seen(status == "SUCCEEDED", f"the execution ended as {status} {cause}".strip())


def _saved_queries(verified: Verified) -> str:
    files = sorted(SAVED.glob("*.sql"))
    for file in files:
        try:
            verified.app.tables.ask(file.read_text(encoding="utf-8"))
        except StatementFailed as failed:
            raise NotSeen(f"{file.name}: {failed}") from None
    return f"Athena answers all {len(files)} saved queries"


CLAIMS: dict[str, Check] = {
    "The app deploys": _deployed,
    "A deployment with other settings": _changed_in_place,
    "StartExecution's `startDate` has the same second": _same_second,
    "The functions run on Python 3.13": _functions_run,
    "Powertools layer version 27": _layer,
    "`ecs:runTask.sync` gives `StartedAt`": _times,
    "`ecs:runTask.sync` gives `PullStartedAt`": _places,
    "`ecs:runTask.sync` takes `Group`": _group,
    "A condition on `ecs:cluster` allows `ListTasks`": _sweep,
    "Container Insights creates its log group": _insights,
    "The catalogue's tables read the objects": _tables,
    "A state machine may log to a group": _vended,
    "A substitution may put a JSONata object": _systems,
    "Athena engine version 3 answers the saved queries": _saved_queries,
    "Service Quotas returns the applied value": _quotas,
    "The conditions `events:source`": _event,
    "EMF lines of a function": _metrics,
}
"""The check of each claim, by the first words of its row."""
