"""Starting a run and following it through the API, as any program outside the cloud would."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local.cloud.deployment import Stack
from suites.plan import Plan, run_id

_ACTIVE = "RUNNING"


@dataclass(frozen=True)
class Run:
    """A started run."""

    run_id: str
    execution_arn: str
    started_at: datetime


@dataclass(frozen=True)
class Position:
    """Where a run stands: the trial and test that it is at."""

    trial: int
    version: str
    test: str


class RunClient:
    """Runs of one deployed stack. ``client`` gives a boto3 client by the service's name."""

    def __init__(self, client: Callable[[str], Any], stack: Stack) -> None:
        self._stack = stack
        self._states = client("stepfunctions")
        self._s3 = client("s3")

    def start(self, given: Mapping[str, Any]) -> Run:
        """Start a run with an execution input."""
        name = f"cli-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
        started = self._states.start_execution(
            stateMachineArn=self._stack.state_machine, name=name, input=json.dumps(given)
        )
        when = started["startDate"].astimezone(UTC)
        return Run(run_id(name, given, when), started["executionArn"], when)

    def status(self, run: Run) -> tuple[str, str]:
        """Return the execution's status and the cause of its failure, '' if there is none."""
        described = self._states.describe_execution(executionArn=run.execution_arn)
        return described["status"], described.get("cause", "")

    def active(self, run: Run) -> bool:
        """Tell whether the run still goes on."""
        return self.status(run)[0] == _ACTIVE

    def stop(self, run: Run, cause: str) -> None:
        """End the run's execution, and with it its tasks."""
        self._states.stop_execution(
            executionArn=run.execution_arn, error="Run.stopped", cause=cause
        )

    def plan(self, run: Run) -> Plan | None:
        """Return the run's plan, None as long as there is none."""
        body = self._read(f"runs/{run.run_id}/plan.json")
        return Plan.model_validate_json(body) if body else None

    def trials(self, run: Run, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the results of the run's finished trials beyond trial ``after``."""
        prefix = f"runs/{run.run_id}/trials/"
        pages = self._s3.get_paginator("list_objects_v2")
        start = f"{prefix}{after:03d}.json"
        for page in pages.paginate(Bucket=self._stack.bucket, Prefix=prefix, StartAfter=start):
            for entry in page.get("Contents", []):
                yield json.loads(self._read(entry["Key"]) or "")

    def position(self, run: Run, plan: Plan, trial: int) -> Position | None:
        """Return where trial ``trial`` of the plan stands, None if it has not been started."""
        states = self._states_entered(self.trial_arn(run, trial))
        if states is None:
            return None
        begun = max(states.count("RunTasks"), 1)
        return Position(trial, plan.trials[trial - 1].version, plan.suite.tests[begun - 1].name)

    def report(self, run: Run, suite: str, file: str) -> bytes | None:
        """Return a file of the run's report, None if there is none."""
        return self._read(f"reports/{suite}/{run.run_id}/{file}")

    def trial_arn(self, run: Run, trial: int) -> str:
        """Return the ARN of the execution of a run's trial."""
        machine = self._stack.outputs["TrialStateMachine"]
        return f"{machine.replace(':stateMachine:', ':execution:')}:{run.run_id}-{trial}"

    def _states_entered(self, arn: str) -> list[str] | None:
        try:
            history = self._states.get_execution_history(executionArn=arn, maxResults=1000)
        except self._states.exceptions.ExecutionDoesNotExist:
            return None
        return [
            event["stateEnteredEventDetails"]["name"]
            for event in history["events"]
            if "stateEnteredEventDetails" in event
        ]

    def _read(self, key: str) -> bytes | None:
        try:
            answer = self._s3.get_object(Bucket=self._stack.bucket, Key=key)
        except self._s3.exceptions.NoSuchKey:
            return None
        body = answer["Body"].read()
        assert isinstance(body, bytes)
        return body
