"""Cloud of this process with the scripted system, in which faults happen."""

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

from aws.client.deployed import deployed_stack
from onebox.cloud.cloud import start_cloud
from onebox.cloud.replacements import Replacements
from onebox.logs.store import LogStore
from tests.cpu_shares import measured_work
from tests.system.faults.wire import on_the_wire
from tests.system.policies.recording import recorded
from tidemark.client.deployed import Deployed
from tidemark.client.runs import Run, RunClient
from tidemark.model.checkout import written_stack
from tidemark.model.version_order import versions_parameter
from tidemark.one_machine.app import deploy, machine_app
from tidemark.store import keys
from tidemark.store.run_ends import find_outcome

SYSTEM = Path(__file__).parent / "system"
SUITE = "scripted"
LOG_GROUP = f"/Tidemark/{SUITE}"
# Subfolder of a state folder with the recorded calls of the roles.
CALLS = "calls"
_POLL_SECONDS = 0.1
_LONGEST_WAIT_SECONDS = 600
_DAY = timedelta(days=1)


class NeverHappened(AssertionError):
    """An event that a fault waited for did not happen."""


class Ground:
    """Cloud over a state folder, without delays before retries, and the actions of faults in it.

    Attributes
    ----------
    wire
        Wire on which services can fail.
    replaced
        Replaced parts of the cloud; the campaign restores them after each fault.
    works
        Work of every successful invocation of a function.
    time
        EventBridge Scheduler's clock, which stands still.
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
            # The sweep runs by the real clock and finds that a start of last week was missed.
            self.time = datetime.now(UTC) - 8 * _DAY
            self.cloud = opened.enter_context(
                start_cloud(
                    machine_app(context),
                    self._state,
                    jitter=lambda _: 0.0,
                    clock=lambda: self.time,
                )
            )
            self.wire = opened.enter_context(on_the_wire())
            self.works = opened.enter_context(measured_work())
            recorder = opened.enter_context(recorded(self._state / CALLS))
            self.stack = deploy(self.cloud)
            recorder.deployed(self.cloud.endpoint)
            self.client.end_dead()
            self._open = opened.pop_all()

    def close(self) -> None:
        """Take the cloud down."""
        self._open.close()

    def start_and_kill(self, calls: str, after: int = 0, **fields: object) -> Run:
        """Start a run in another process, kill that process at a call and return the run.

        This cloud is down meanwhile and then starts again over the state of the killed process.
        """
        self.close()
        command = [sys.executable, "-m", "tests.system.faults.victim", str(self._state)]
        call = {"calls": calls, "after": after, "fields": {"suite": SUITE, **fields}}
        with subprocess.Popen(
            [*command, str(self._logs_deadline_seconds), json.dumps(call)],
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
    def app(self) -> Deployed:
        """App in the cloud."""
        return deployed_stack(self.cloud.endpoint.client, self.stack, poll_seconds=0.1)

    @property
    def client(self) -> RunClient:
        """Client that starts and follows runs."""
        return self.app.runs

    @property
    def logs(self) -> LogStore:
        """Log store of the cloud."""
        return LogStore(self.cloud.state / "logs")

    def start(self, **fields: object) -> Run:
        """Start a run."""
        return self.client.start({"suite": SUITE, **fields})

    def run(self, *versions: str, **fields: object) -> Run:
        """Measure versions and a healthy one, one trial each; return the run after its end."""
        return self.wait_for_end(self.start(versions=[*versions, "healthy"], **fields))

    def wait_for_end(self, run: Run) -> Run:
        """Wait until the execution of a run has ended; return the run."""
        client = self.client
        self.until(lambda: not client.active(run))
        return run

    def stop(self, execution_arn: str, **reason: str) -> None:
        """Stop an execution; without ``reason`` the cause is "by hand"."""
        states = self.cloud.endpoint.client("stepfunctions")
        states.stop_execution(
            executionArn=execution_arn, **(reason or {"error": "Stopped", "cause": "by hand"})
        )

    @contextmanager
    def without_events(self) -> Iterator[None]:
        """Disable the rules for events while the context is open."""
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
        """Invoke the sweep that ends dead runs, as the schedule does every hour."""
        function = self.stack.outputs["SweepRunsFunction"]
        self.cloud.endpoint.client("lambda").invoke(FunctionName=function)

    def be_due(self) -> None:
        """Move the clock to the next weekly start of the suite."""
        self.time += 7 * _DAY

    def undelivered(self) -> bool:
        """Take an undelivered start off the queue; tell whether there was one."""
        sqs = self.cloud.endpoint.client("sqs")
        (url,) = sqs.list_queues()["QueueUrls"]
        return "Messages" in sqs.receive_message(QueueUrl=url)

    def include(self, run: Run, trial: int) -> None:
        """Store the mark of an included trial, as a program killed after this write leaves it."""
        mark = {"excluded": False, "reason": "", "at": datetime.now(UTC).isoformat()}
        self.cloud.endpoint.client("s3").put_object(
            Bucket=self.stack.bucket,
            Key=keys.exclusion(run.run_id, trial),
            Body=json.dumps(mark).encode(),
        )

    def release(self, *versions: str) -> None:
        """Store the list of the suite's versions, as a release pipeline does."""
        name = versions_parameter(written_stack(), SUITE)
        self.cloud.endpoint.client("ssm").put_parameter(
            Name=name, Value=",".join(versions), Type="StringList", Overwrite=True
        )

    def wait_for_outcome(self, run: Run) -> Run:
        """Wait until a run has its outcome and its suite is free again; return the run."""
        self.until(lambda: find_outcome(self.client.bucket, run.run_id) and not self._claimed())
        return run

    def resume(self, run: Run) -> Run:
        """Measure the missing trials of a run; return the run after its end."""
        again = self.start(run=run.run_id)
        return replace(self.wait_for_end(again), run_id=run.run_id)

    def with_planned_id(self, run: Run) -> Run:
        """Return a run with the id of its plan, which comes from the schedule."""
        states = self.cloud.endpoint.client("stepfunctions")
        output = states.describe_execution(executionArn=run.execution_arn)["output"]
        return replace(run, run_id=json.loads(output)["run_id"])

    def wait_for_refusal(self, run: Run) -> Run:
        """Wait for the end of a refused resume; return it with its own id."""
        return replace(self.wait_for_end(run), run_id=run.own_id)

    def _claimed(self) -> bool:
        s3 = self.cloud.endpoint.client("s3")
        return bool(s3.list_objects_v2(Bucket=self.stack.bucket, Prefix="claims/")["KeyCount"])

    def until(self, happened: Callable[[], object]) -> None:
        """Wait until ``happened`` returns a true value."""
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not happened():
            if time.monotonic() > deadline:
                raise NeverHappened(f"the event did not happen within {_LONGEST_WAIT_SECONDS} s")
            time.sleep(_POLL_SECONDS)
