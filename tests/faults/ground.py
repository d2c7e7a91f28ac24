"""Where faults happen: a cloud of this process with the scripted system in it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from local.cloud.cloud import start_cloud
from local.cloud.replacements import Replacements
from local.following import Run, RunClient
from local.logs.store import LogStore
from suites import keys
from suites.versions import versions_parameter
from tests.faults.wire import on_the_wire
from tests.policies.recording import recorded

SYSTEM = Path(__file__).parent / "system"
SUITE = "scripted"
LOG_GROUP = f"/Tidemark/{SUITE}"
# Below a state folder: what the roles of its clouds called.
CALLS = "calls"
_POLL_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 600
_DAY = timedelta(days=1)


class NeverHappened(AssertionError):
    """What a fault waited for did not come."""


class Ground:
    """A cloud over a state folder, in which no retry waits, and what faults need to act in it.

    Attributes
    ----------
    wire
        Where services can fail.
    replaced
        What a fault replaces of the cloud; put back after it.
    time
        What EventBridge Scheduler takes the time to be; it stands still.
    """

    def __init__(self, state: Path, logs_deadline_seconds: int) -> None:
        self.replaced = Replacements()
        self._state = state
        self._logs_deadline_seconds = logs_deadline_seconds
        self._open = ExitStack()
        self._begin()

    def _begin(self) -> None:
        with ExitStack() as opened:
            context = {
                "systems": str(SYSTEM),
                "logsDeadlineSeconds": self._logs_deadline_seconds,
                "schedules": {SUITE: {}},
            }
            # The sweep, by whose clock it is now, finds that a start of last week was missed.
            self.time = datetime.now(UTC) - 8 * _DAY
            self.cloud = opened.enter_context(
                start_cloud(
                    self._state, context=context, jitter=lambda _: 0.0, clock=lambda: self.time
                )
            )
            self.wire = opened.enter_context(on_the_wire())
            recorder = opened.enter_context(recorded(self._state / CALLS))
            self.stack = self.cloud.deploy()
            recorder.deployed(self.cloud.endpoint)
            self.client.end_dead()
            self._open = opened.pop_all()

    def close(self) -> None:
        """Take the cloud down."""
        self._open.close()

    def killed(self, calls: str, after: int = 0, **asked: object) -> Run:
        """Have another process start a run, and kill it when it is at a call; return the run.

        The cloud is down meanwhile, and up again over what the other process left.
        """
        self.close()
        command = [sys.executable, "-m", "tests.faults.victim", str(self._state)]
        told = {"calls": calls, "after": after, "asked": {"suite": SUITE, **asked}}
        with subprocess.Popen(
            [*command, str(self._logs_deadline_seconds), json.dumps(told)],
            stdout=subprocess.PIPE,
            text=True,
        ) as victim:
            assert victim.stdout is not None
            line = victim.stdout.readline()
            victim.kill()
        run_id, arn = json.loads(line)
        self._begin()
        return Run(run_id, arn)

    @property
    def client(self) -> RunClient:
        """The runs, as any program would start and follow them."""
        return RunClient(self.cloud.endpoint.client, self.stack)

    @property
    def logs(self) -> LogStore:
        """What was logged, as it is stored."""
        return LogStore(self.cloud.state / "logs")

    def start(self, **asked: object) -> Run:
        """Start a run."""
        return self.client.start({"suite": SUITE, **asked})

    def run(self, *versions: str, **asked: object) -> Run:
        """Measure versions, and one that is healthy beside them; return the run when it has ended.

        Each version is one trial.
        """
        return self.ended(self.start(versions=[*versions, "healthy"], **asked))

    def ended(self, run: Run) -> Run:
        """Return a run when its execution has ended."""
        client = self.client
        self.until(lambda: not client.active(run))
        return run

    def stop(self, execution_arn: str, **why: str) -> None:
        """Stop an execution, by hand unless an error and a cause are given."""
        states = self.cloud.endpoint.client("stepfunctions")
        states.stop_execution(
            executionArn=execution_arn, **(why or {"error": "Stopped", "cause": "by hand"})
        )

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Let no event of an execution's end be heard while the context is open."""
        events = self.cloud.endpoint.client("events")
        rules = [rule["Name"] for rule in events.list_rules()["Rules"] if "EventPattern" in rule]
        for rule in rules:
            events.disable_rule(Name=rule)
        try:
            yield
        finally:
            for rule in rules:
                events.enable_rule(Name=rule)

    def sweep(self) -> None:
        """Have whatever died ended, as the schedule does every hour."""
        function = self.stack.outputs["SweepRunsFunction"]
        self.cloud.endpoint.client("lambda").invoke(FunctionName=function)

    def be_due(self) -> None:
        """Let the time come at which the suite is measured every week."""
        self.time += 7 * _DAY

    def undelivered(self) -> bool:
        """Tell whether there is a start that could not be delivered; take it."""
        sqs = self.cloud.endpoint.client("sqs")
        (url,) = sqs.list_queues()["QueueUrls"]
        return "Messages" in sqs.receive_message(QueueUrl=url)

    def include(self, run: Run, trial: int) -> None:
        """Say that a trial is not excluded, as who was stopped before anything followed of it."""
        said = {"excluded": False, "reason": "", "at": datetime.now(UTC).isoformat()}
        self.cloud.endpoint.client("s3").put_object(
            Bucket=self.stack.bucket,
            Key=keys.exclusion(run.run_id, trial),
            Body=json.dumps(said).encode(),
        )

    def release(self, *versions: str) -> None:
        """List the suite's versions, as a release pipeline does."""
        name = versions_parameter(self.cloud.settings.stack_name, SUITE)
        self.cloud.endpoint.client("ssm").put_parameter(
            Name=name, Value=",".join(versions), Type="StringList", Overwrite=True
        )

    def settled(self, run: Run) -> Run:
        """Return a run when it has its outcome and its suite is free again."""
        self.until(lambda: self.client.results.outcome(run.run_id) and not self._claimed())
        return run

    def resumed(self, run: Run) -> Run:
        """Go on with the missing trials of a run; return it when that has ended."""
        again = self.start(run=run.run_id)
        return replace(self.ended(again), run_id=run.run_id)

    def planned_by(self, run: Run) -> Run:
        """Return a run by the name that it was planned by, which a schedule gives."""
        states = self.cloud.endpoint.client("stepfunctions")
        output = states.describe_execution(executionArn=run.execution_arn)["output"]
        return replace(run, run_id=json.loads(output)["run_id"])

    def refused(self, run: Run) -> Run:
        """Return a refused resume, when it has ended, by the name that is its own."""
        return replace(self.ended(run), run_id=run.own_id)

    def _claimed(self) -> bool:
        s3 = self.cloud.endpoint.client("s3")
        return bool(s3.list_objects_v2(Bucket=self.stack.bucket, Prefix="claims/")["KeyCount"])

    def until(self, happened: Callable[[], object]) -> None:
        """Wait for something to happen."""
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not happened():
            if time.monotonic() > deadline:
                raise NeverHappened(f"it did not happen within {_LONGEST_WAIT_SECONDS} s")
            time.sleep(_POLL_SECONDS)
