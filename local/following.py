"""Starting a run and following it through the API, as any program outside the cloud would."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local.results import Results
from local.stack import Stack
from suites.plan import Plan, run_id, trial_execution

_ACTIVE = "RUNNING"
# EndRun takes seconds; this is for one that fails and is tried again.
_LONGEST_END_SECONDS = 60


@dataclass(frozen=True)
class Run:
    """A started run."""

    run_id: str
    execution_arn: str
    own_id: str = ""
    """By which its outcome is found if it is refused; another one if it was to be resumed."""


class RunClient:
    """Runs of one deployed stack.

    Parameters
    ----------
    client
        Gives a boto3 client by the service's name.
    stack
        The stack.
    poll_seconds
        How long to wait before asking again how a run goes on [s].

    """

    def __init__(
        self, client: Callable[[str], Any], stack: Stack, poll_seconds: float = 0.1
    ) -> None:
        self._stack = stack
        self.poll_seconds = poll_seconds
        self._states = client("stepfunctions")
        self.results = Results(client, stack)

    def start(self, given: Mapping[str, Any]) -> Run:
        """Start a run with an execution input, or go on with the one that it names."""
        name = f"cli-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
        started = self._states.start_execution(
            stateMachineArn=self._stack.state_machine, name=name, input=json.dumps(given)
        )
        when = started["startDate"].astimezone(UTC)
        own = run_id(name, when)
        return Run(given.get("run", own), started["executionArn"], own)

    def find(self, run_id: str) -> Run | None:
        """Return the run of this id if it goes on, None if it does not."""
        arn = self.results.claims().get(run_id)
        run = Run(run_id, arn) if arn else None
        return run if run and self.active(run) else None

    def any_active(self) -> bool:
        """Tell whether any run goes on."""
        listed = self._states.list_executions(
            stateMachineArn=self._stack.state_machine, statusFilter=_ACTIVE
        )
        return bool(listed["executions"])

    def status(self, run: Run) -> tuple[str, str]:
        """Return the execution's status and the cause of its failure, '' if there is none."""
        try:
            described = self._states.describe_execution(executionArn=run.execution_arn)
        except self._states.exceptions.ExecutionDoesNotExist:
            return "GONE", ""
        return described["status"], described.get("cause", "")

    def active(self, run: Run) -> bool:
        """Tell whether the run still goes on."""
        return self.status(run)[0] == _ACTIVE

    def stop(self, run: Run, cause: str) -> None:
        """End the run's execution, and with it its tasks."""
        self._states.stop_execution(
            executionArn=run.execution_arn, error="Run.stopped", cause=cause
        )

    def end_dead(self) -> Collection[str]:
        """Have the runs ended that went on in a cloud before this new one; return their ids."""
        # No execution outlives its cloud. The sweep waits in case one is not known yet, as on AWS.
        dead = self.results.claims()
        for execution_arn in dead.values():
            self.results.end(execution_arn)
        return dead.keys()

    def await_end(self, runs: Collection[str]) -> bool:
        """Wait until runs whose executions have ended are ended too: recorded, reported, judged.

        Return False if that takes too long.
        """
        deadline = time.monotonic() + _LONGEST_END_SECONDS
        while not self.results.claims().keys().isdisjoint(runs):
            if time.monotonic() > deadline:
                return False
            time.sleep(self.poll_seconds)
        return True

    def current_test(self, run: Run, plan: Plan, trial: int) -> str | None:
        """Return the test that trial ``trial`` is at, None if the trial has not been started."""
        states = self._states_entered(self.trial_arn(run, trial))
        if states is None:
            return None
        begun = max(states.count("RunTasks"), 1)
        return plan.suite.tests[begun - 1].name

    def trial_arn(self, run: Run, trial: int) -> str:
        """Return the ARN of the execution of a run's trial."""
        machine = self._stack.outputs["TrialStateMachine"]
        name = trial_execution(run.run_id, trial, run.execution_arn)
        return f"{machine.replace(':stateMachine:', ':execution:')}:{name}"

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
