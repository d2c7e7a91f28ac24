"""A client that starts and follows runs through the API, as any program outside can."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tidemark.client.deployed import Functions, Stack, StateMachines
from tidemark.model.run_id import run_id, trial_execution
from tidemark.store.bucket import Bucket
from tidemark.store.claims import claimed_runs

if TYPE_CHECKING:
    from tidemark.model.plan import Plan
    from tidemark.model.suite import Suite, Test

_ACTIVE = "RUNNING"
# EndRun takes seconds; the limit leaves time for a retry after a failure.
_LONGEST_END_SECONDS = 60


@dataclass(frozen=True)
class Run:
    """A started run."""

    run_id: str
    execution_arn: str
    own_id: str = ""
    """The id of the outcome if the start is refused; for a resume it differs from ``run_id``."""


class RunClient:
    """Runs of one deployed stack.

    Parameters
    ----------
    machines, functions
        The state machines and functions of the cloud.
    results
        The results of the stack.
    stack
        The stack.
    poll_seconds
        The time between two requests for the state of a run [s].

    """

    def __init__(
        self,
        machines: StateMachines,
        functions: Functions,
        bucket: Bucket,
        stack: Stack,
        poll_seconds: float = 0.1,
    ) -> None:
        self._machines, self._functions, self._stack = machines, functions, stack
        self.bucket = bucket
        self.poll_seconds = poll_seconds

    def start(self, execution_input: Mapping[str, Any]) -> Run:
        """Start a run from an execution input, or resume the run that the input names."""
        name = f"cli-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
        arn, started_at = self._machines.start(
            self._stack.state_machine, name, json.dumps(execution_input)
        )
        own_id = run_id(name, started_at)
        return Run(execution_input.get("run", own_id), arn, own_id)

    def find(self, run_id: str) -> Run | None:
        """Return the run with this id if it is active, else None."""
        arn = claimed_runs(self.bucket).get(run_id)
        return Run(run_id, arn) if arn and self.is_active(arn) else None

    def any_active(self) -> bool:
        """Tell whether any run is active."""
        return self._machines.any_running(self._stack.state_machine)

    def status(self, run: Run) -> tuple[str, str]:
        """Return the status of the execution and the cause of its failure, '' for none."""
        return self._machines.status(run.execution_arn)

    def is_active(self, execution_arn: str) -> bool:
        """Tell whether an execution is running."""
        return self._machines.status(execution_arn)[0] == _ACTIVE

    def active(self, run: Run) -> bool:
        """Tell whether the run is active."""
        return self.is_active(run.execution_arn)

    def stop(self, run: Run, cause: str) -> None:
        """Stop the execution and the tasks of the run."""
        self._machines.stop(run.execution_arn, cause)

    def end_dead(self) -> Collection[str]:
        """Start the end of runs that an earlier cloud left unfinished; return their ids."""
        # No execution outlives its cloud. The sweep would wait for an unknown execution, as on AWS.
        dead = claimed_runs(self.bucket)
        for execution_arn in dead.values():
            gone = {"detail": {"executionArn": execution_arn, "status": "GONE"}}
            self._functions.send(self._stack.outputs["EndRunFunction"], gone)
        return dead.keys()

    def await_end(self, runs: Collection[str]) -> bool:
        """Wait until runs with ended executions have their records, reports and outcomes.

        Return False if that takes too long.
        """
        deadline = time.monotonic() + _LONGEST_END_SECONDS
        while not claimed_runs(self.bucket).keys().isdisjoint(runs):
            if time.monotonic() > deadline:
                return False
            time.sleep(self.poll_seconds)
        return True

    def current_test(self, run: Run, plan: Plan, trial: int) -> str | None:
        """Return the current test of a trial in words, None if the trial has not started."""
        states = self._machines.states_entered(self.trial_arn(run, trial))
        if states is None:
            return None
        number = min(max(states.count("ChooseTest"), 1), len(plan.suite.tests))
        test = plan.suite.tests[number - 1]
        in_test = list(takewhile(lambda state: state != "ChooseTest", reversed(states)))
        return ", ".join([test.name, *self._wait(plan.suite, test, in_test)])

    def _wait(self, suite: Suite, test: Test, latest: Sequence[str]) -> Iterator[str]:
        """Yield in words that a test waits for a service or log lines, and how long at most.

        ``latest`` are the states that the test has entered, the latest first.
        """
        if "WaitForLogs" in latest:
            yield "waiting for its log lines"
            yield f"{self._stack.outputs['LogsDeadlineSeconds']} s at most"
        elif "WaitForCondition" in takewhile(lambda state: state != "ChooseStep", latest):
            number = latest.count("ChooseStep") - 1 - len(test.services)
            # A test starts its services first, each as a step.
            if number < 0:
                name = test.services[number]
                yield f"waiting for the service {name}"
                yield f"{suite.services[name].within_seconds} s at most"
            else:
                step = test.every_step[number]
                waiting = "load of step" if step.load else "waiting for the log line of step"
                yield f"{waiting} {step.name}"
                yield f"{test.limit_seconds(step)} s at most"

    def trial_arn(self, run: Run, trial: int) -> str:
        """Return the ARN of the execution of a run's trial."""
        machine = self._stack.outputs["TrialStateMachine"]
        name = trial_execution(run.run_id, trial, run.execution_arn)
        return f"{machine.replace(':stateMachine:', ':execution:')}:{name}"
