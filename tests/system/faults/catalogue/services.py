"""Faults of the services that the pipeline uses."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock, Timer
from typing import TYPE_CHECKING

from moto.core.exceptions import JsonRESTError
from moto.ecs.responses import EC2ContainerServiceResponse

from cdk.functions import module_of
from onebox.cloud import task
from onebox.cloud.environments import Sandbox
from onebox.cloud.processes import Child
from onebox.cloud.runtime import Reply
from onebox.logs.store import LogStore
from tests.system.faults.catalogue.tasks import EXIT_1, NO_LINES, both
from tests.system.faults.fault import Ending, Fault
from tests.system.faults.ground import LOG_GROUP, Ground
from tests.system.faults.wire import (
    Answer,
    error_answer,
    slow,
    success_answer,
    unreadable_answer,
)
from tidemark.client.runs import Run

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

_COMPLETE = Ending("complete", "", 2)


def _lost(cause: str) -> Ending:
    """Return the ending of a run whose only trial is lost for this cause."""
    reason = "1 of 1 trials did not give all rates; the first is trial 1 (healthy): "
    return Ending("failed", reason + cause)


_THROTTLED = error_answer(400, "ThrottlingException", "Rate exceeded")
_NO_CAPACITY = success_answer(
    {"tasks": [], "failures": [{"reason": "Capacity is unavailable at this time."}]}
)


def invocations(state: str) -> str:
    """Return the pattern of the calls that invoke a state's function."""
    return f"^lambda POST .*Functions{state}.*/invocations$"


def _under(
    calls: str, answer: Answer, times: int | None = None, after: int = 0
) -> Callable[[Ground], list[Run]]:
    """Return a function that runs one trial while ``answer`` replaces all or ``times`` answers.

    The service answers the first ``after`` calls.
    """

    def act(ground: Ground) -> list[Run]:
        with ground.wire.fault(calls, answer, times, after):
            return [ground.run()]

    return act


def _topic_fails(ground: Ground) -> list[Run]:
    with ground.wire.fault("^sns ", error_answer(500, "InternalError")):
        run = ground.run()
    # EndRun announces the outcome when the topic works again.
    return [ground.wait_for_outcome(run)]


def _query_that_never_ends(ground: Ground) -> list[Run]:
    times: list[float] = []

    def running(environ: WSGIEnvironment) -> tuple[int, dict[str, str], bytes] | None:
        times.append(time.monotonic())
        still = times[-1] < times[0] + 60
        return success_answer({"status": "Running", "results": []})(environ) if still else None

    with ground.wire.fault("^logs GetQueryResults", running):
        return [ground.run()]


def _crashed(state: str, times: int = 1) -> Callable[[Ground], list[Run]]:
    """Return a function that runs one trial and kills a state's function after its work."""

    def act(ground: Ground) -> list[Run]:
        left = _Countdown(times)

        def run(sandbox: Sandbox, payload: bytes) -> Reply:
            reply: Reply = ran(sandbox, payload)
            if f"Functions{state}" not in sandbox.function.name or not left.count():
                return reply
            sandbox._process.send(signal.SIGKILL)
            sandbox._process.done.result()
            return sandbox._broken()

        ran = ground.replaced.set(Sandbox, "_run", run)
        return [ground.run()]

    return act


def kill_for_memory(ground: Ground, state: str, times: int | None = None) -> None:
    """Kill a state's function in its work, as Lambda does for lack of memory.

    ``times`` is the number of kills; None kills it every time.
    """
    left = _Countdown(10**9 if times is None else times)

    def run(sandbox: Sandbox, payload: bytes) -> Reply:
        if f"Functions{state}" in sandbox.function.name and left.count():
            return sandbox._out_of_memory()
        reply: Reply = ran(sandbox, payload)
        return reply

    ran = ground.replaced.set(Sandbox, "_run", run)


def _out_of_memory(state: str, times: int | None = None) -> Callable[[Ground], list[Run]]:
    """Return a function that runs one trial while a state's function runs out of memory."""

    def act(ground: Ground) -> list[Run]:
        kill_for_memory(ground, state, times)
        # EndRun records the outcome if RecordOutcome cannot.
        return [ground.wait_for_outcome(ground.run())]

    return act


def _timed_out(ground: Ground) -> list[Run]:
    """Give CollectRates a limit of one second once, and delay its query by three seconds."""
    left = _Countdown(1)

    def run(sandbox: Sandbox, payload: bytes) -> Reply:
        if "FunctionsCollectRates" in sandbox.function.name and left.count():
            sandbox.function = replace(sandbox.function, timeout_seconds=1)
        reply: Reply = ran(sandbox, payload)
        return reply

    ran = ground.replaced.set(Sandbox, "_run", run)
    with ground.wire.fault("^logs StartQuery", slow(3), 1):
        return [ground.run()]


def _started_twice(ground: Ground) -> list[Run]:
    left = _Countdown(1)

    def run_task(response: EC2ContainerServiceResponse) -> object:
        is_first = left.count()
        if is_first:
            # The task that nobody knows still runs when the others have ended.
            (container,) = response._get_param("overrides")["containerOverrides"]
            (version,) = (
                each for each in container["environment"] if each["name"] == "TIDEMARK_VERSION"
            )
            version["value"] = "patient"
        answer: object = ran(response)
        if is_first:
            raise JsonRESTError("ServerException", "as the fault wants")
        return answer

    ran = ground.replaced.set(EC2ContainerServiceResponse, "run_task", run_task)
    return [ground.run()]


def _not_started(ground: Ground) -> list[Run]:
    def refuse(*_: object) -> Child:
        raise FileNotFoundError(2, "No such file or directory")

    ground.replaced.set(task, "begin", refuse)
    return [ground.run()]


def _delivered(seconds: float | None, shift_seconds: int = 0) -> Callable[[Ground], list[Run]]:
    """Return a function that runs one trial whose lines arrive ``seconds`` late, None for never."""

    def act(ground: Ground) -> list[Run]:
        late: list[Timer] = []

        def append(
            store: LogStore, group: str, stream: str, events: Sequence[tuple[int, str]], now: int
        ) -> None:
            if group != LOG_GROUP:
                appended(store, group, stream, events, now)
                return
            shifted = [(moment + 1000 * shift_seconds, text) for moment, text in events]
            if seconds is not None:
                late.append(Timer(seconds, appended, (store, group, stream, shifted, now)))
                late[-1].start()

        appended = ground.replaced.set(LogStore, "append", append)
        run = ground.run()
        for timer in late:
            timer.join()
        return [run]

    return act


class _Countdown:
    """Countdown that any thread may use."""

    def __init__(self, times: int) -> None:
        self._left = times
        self._lock = Lock()

    def count(self) -> bool:
        """Count one event; tell whether it is within the number."""
        with self._lock:
            self._left -= 1
            return self._left >= 0


FAULTS = (
    Fault(
        name="s3-refuses-twice",
        happens="S3 answers SlowDown to the first two writes of a trial's record",
        act=_under("^s3 PUT .*/trials/", error_answer(503, "SlowDown"), 2),
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="s3-refuses",
        happens="S3 answers SlowDown to every write of a trial's record",
        act=_under("^s3 PUT .*/trials/", error_answer(503, "SlowDown")),
        endings=(Ending("failed", "ClientError: An error occurred (SlowDown) when calling …"),),
        target="test",
    ),
    Fault(
        name="s3-conflicts",
        happens="S3 answers ConditionalRequestConflict to the first two releases of the claim",
        act=_under("^s3 DELETE .*claims/", error_answer(409, "ConditionalRequestConflict"), 2),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="s3-denies",
        happens="S3 denies the write of ingest",
        act=_under("^s3 PUT .*/data/", error_answer(403, "AccessDenied")),
        endings=(_lost(f"ingest: {both(f'{EXIT_1}: S3 answered PUT with 403')}"),),
    ),
    Fault(
        name="s3-slow",
        happens="S3 takes a second for every call",
        act=_under("^s3 ", slow(1)),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="quota-unread",
        happens="PlanRun may not read the Fargate quota and cannot tell whether the run fits",
        act=_under("^servicequotas GetServiceQuota", error_answer(400, "AccessDeniedException")),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="query-throttled",
        happens="Logs Insights throttles the first three queries",
        act=_under("^logs StartQuery", _THROTTLED, 3),
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="query-throttled-long",
        happens="Logs Insights throttles more queries than one invocation attempts",
        act=_under("^logs StartQuery", _THROTTLED, 8),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="query-too-many",
        happens="too many queries run at once, for longer than one invocation retries",
        act=_under("^logs StartQuery", error_answer(400, "LimitExceededException"), 8),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="query-fails",
        happens="a log query ends as Failed",
        act=_under("^logs GetQueryResults", success_answer({"status": "Failed", "results": []}), 1),
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="query-always-fails",
        happens="every log query ends as Failed",
        act=_under("^logs GetQueryResults", success_answer({"status": "Failed", "results": []})),
        endings=(_lost("QueryFailed: the query over /Tidemark/scripted ended as Failed: …"),),
    ),
    Fault(
        name="query-never-ends",
        happens="a log query runs for longer than its function waits",
        act=_query_that_never_ends,
        endings=(_COMPLETE,),
    ),
    Fault(
        name="function-throttled",
        happens="Lambda throttles the first three invocations of CollectRates",
        act=_under(invocations("CollectRates"), error_answer(429, "TooManyRequestsException"), 3),
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="function-always-throttled",
        happens="Lambda throttles every invocation of CollectRates",
        act=_under(invocations("CollectRates"), error_answer(429, "TooManyRequestsException")),
        endings=(_lost("Lambda.TooManyRequestsException: …"),),
    ),
    Fault(
        name="no-capacity-at-first",
        happens="ECS has no capacity for the first three requested tasks",
        act=_under("RunTask", _NO_CAPACITY, 3),
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="no-capacity",
        happens="ECS never has capacity",
        act=_under("RunTask", _NO_CAPACITY),
        endings=(_lost("ingest: task 0: …Capacity is unavailable at this time.…"),),
    ),
    Fault(
        name="task-started-twice",
        happens="RunTask starts a task and answers with an internal error",
        act=_started_twice,
        endings=(_lost("ingest: task 2: it ran beside the tasks of the test: …"),),
        target="test",
    ),
    Fault(
        name="topic-fails-at-first",
        happens="the topic refuses the outcome twice",
        act=_under("^sns ", error_answer(500, "InternalError"), 2),
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="topic-fails",
        happens="the topic always refuses the outcome, so the run's execution fails",
        act=_topic_fails,
        endings=(_COMPLETE,),
    ),
    Fault(
        name="not-started",
        happens="a task's program cannot be started",
        act=_not_started,
        endings=(_lost("ingest: task 0: …CannotStartContainerError: …No such file or directory…"),),
    ),
    Fault(
        name="function-times-out",
        happens="CollectRates exceeds its time limit once",
        act=_timed_out,
        endings=(_COMPLETE,),
        target="systems",
    ),
    Fault(
        name="logs-late",
        happens="the lines of the tasks arrive 20 s late",
        act=_delivered(20),
        endings=(_COMPLETE,),
        logs_deadline_seconds=60,
    ),
    Fault(
        name="logs-never-come",
        happens="the lines of the tasks never arrive",
        act=_delivered(None),
        endings=(_lost(NO_LINES),),
    ),
    Fault(
        name="clock-behind",
        happens="the tasks' clock is an hour behind",
        act=_delivered(0, -3600),
        endings=(_lost(NO_LINES),),
    ),
    Fault(
        name="clock-ahead",
        happens="the tasks' clock is an hour ahead",
        act=_delivered(0, 3600),
        endings=(_lost(NO_LINES),),
    ),
    Fault(
        name="task-start-fails-at-first",
        happens="ECS answers RunTask twice with an internal error, and starts no task",
        act=_under("^ecs RunTask", error_answer(500, "ServerException"), 2),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="task-start-throttled",
        happens="ECS throttles RunTask three times",
        act=_under("^ecs RunTask", _THROTTLED, 3),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="network-check-throttled",
        happens="EC2 throttles the check of the subnets for RunTask once",
        act=_under("^ecs RunTask", error_answer(400, "InvalidParameterException"), 1),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="task-start-unreadable",
        happens="ECS answers RunTask twice with a page of HTML, and starts no task",
        act=_under("^ecs RunTask", unreadable_answer, 2),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="trial-start-throttled",
        happens="Step Functions throttles the start of a trial twice",
        act=_under("^states StartExecution", _THROTTLED, 2, after=1),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="trial-start-over-limit",
        happens="Step Functions refuses the start of a trial twice, as too many executions run",
        act=_under(
            "^states StartExecution", error_answer(400, "ExecutionLimitExceeded"), 2, after=1
        ),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="trial-start-unreadable",
        happens="Step Functions answers the start of a trial twice with a page of HTML",
        act=_under("^states StartExecution", unreadable_answer, 2, after=1),
        endings=(_COMPLETE,),
    ),
    Fault(
        name="record-rates-out-of-memory",
        happens="RecordRates is killed for lack of memory at every attempt",
        act=_out_of_memory("RecordRates"),
        endings=(Ending("failed", "Runtime.ExitError: …signal: killed"),),
    ),
    Fault(
        name="record-outcome-out-of-memory",
        happens="RecordOutcome is killed for lack of memory at every attempt; EndRun ends the run",
        act=_out_of_memory("RecordOutcome"),
        endings=(_COMPLETE,),
    ),
    *(
        Fault(
            name=f"{module_of(state).replace('_', '-')}-crashes",
            happens=f"{state} is killed after its work",
            act=_crashed(state),
            endings=(_COMPLETE,),
            target="test" if state == "RecordTrial" else "faults",
        )
        for state in (
            "PlanRun",
            "ChooseTrial",
            "PrepareTrial",
            "CollectRates",
            "CleanUpTrial",
            "RecordTrial",
            "RecordRates",
            "PublishReport",
            "RecordOutcome",
        )
    ),
)
