"""The wait for a condition: its event, its answer, and the log query that both read."""

import math
from collections.abc import Collection
from datetime import datetime, timedelta

from tidemark.model.base import Frozen
from tidemark.model.results import TaskResult
from tidemark.model.suite_asset import query_file
from tidemark.run.ecs_resources import System
from tidemark.run.events import TrialEvent
from tidemark.run.ports import ClockWentBack, LogQueries, TooManyRows
from tidemark.run.stop_services import RunningService
from tidemark.store import keys

# The clocks of ECS and Step Functions may differ; streams, not times, tell trials apart.
_CLOCK_MARGIN = timedelta(minutes=1)
_SECOND = "%Y-%m-%d %H:%M:%S"


class LoggedTest(TrialEvent):
    """A test of a trial with the tasks that have ended, whose logs are read."""

    test: str
    system: System
    tasks: list[TaskResult]
    started_at: datetime
    now: datetime
    bytes_scanned: int
    """The bytes scanned by the earlier queries of the test."""

    @property
    def window(self) -> tuple[datetime, datetime]:
        """The times between which the tasks wrote their lines.

        Raises
        ------
        ClockWentBack
            If there are none.

        """
        first, last = self.started_at - _CLOCK_MARGIN, self.now + _CLOCK_MARGIN
        if last < first:
            raise ClockWentBack(
                f"the clock went back during {self.test}, from {self.started_at:{_SECOND}} to "
                f"{self.now:{_SECOND}} UTC, so that the lines of its tasks cannot be found"
            )
        return first, last


_LONGEST_QUERY_SECONDS = 60


class CheckedCondition(Frozen):
    """The answer to one question whether a step may end."""

    over: bool
    """Whether the wait is over: its condition holds, or there is no more time."""
    wait_seconds: int = 0
    """The wait before the next question [s]."""
    stopped_by: str | None = None
    """The reason why the test fails."""
    bytes_scanned: int
    """The bytes scanned by this query and the earlier queries of the test."""
    environment: tuple[dict[str, str], ...] = ()
    """The address of a service that is ready, as an environment variable of later tasks."""
    holds: int = 0
    """The readings in sequence that found the condition to hold, this reading included."""


class ConditionEvent(LoggedTest):
    """A step that waits, and the time when its wait began."""

    step: str
    waiting_since: datetime
    services: tuple[RunningService, ...]
    """The services that the test has started."""
    artefacts: str
    """The address below which the tasks leave files."""
    awaited: str
    """The name of the query or cluster, or the names of the queues with commas between."""
    holds: int = 0
    """The earlier readings in sequence that found the condition to hold."""

    @property
    def service(self) -> RunningService | None:
        """The service that is started, None if a step of the test waits."""
        return next((each for each in self.services if each.name == self.step), None)

    @property
    def levels_key(self) -> str:
        """The key of the levels of the test's load, beside the files of its tasks."""
        return levels_key(self.artefacts, self.test)

    @property
    def waited_seconds(self) -> float:
        """The time since the wait began [s]."""
        return (self.now - self.waiting_since).total_seconds()

    def again(self, seconds: float) -> CheckedCondition:
        """Return that the wait goes on, and how long until the next question [s]."""
        wait = math.ceil(seconds)
        return CheckedCondition(over=False, wait_seconds=wait, bytes_scanned=self.bytes_scanned)

    def over(self, stopped_by: str | None = None) -> CheckedCondition:
        """Return that the wait is over, with the reason if the test fails."""
        scanned = self.bytes_scanned
        return CheckedCondition(over=True, stopped_by=stopped_by, bytes_scanned=scanned)

    def failed(self, why: str) -> CheckedCondition:
        """Return that the step fails the test."""
        return self.over(f"step {self.step}: {why}")


def levels_key(artefacts: str, test: str) -> str:
    """Return the key of the levels of a test's load, from the address of its tasks' files."""
    left = artefacts.removeprefix("s3://").partition("/")[2]
    return f"{left.partition('/artefacts/')[0]}/{keys.levels(test)}"


def ask(
    queries: LogQueries,
    suite: str,
    query: str,
    log_group: str,
    streams: Collection[str],
    event: ConditionEvent,
) -> tuple[list[dict[str, str]], ConditionEvent]:
    """Return the rows of a query over log streams, and the event with the bytes that it scanned.

    A query with too many rows has a single one.
    """
    text = query_file(suite, query).read_text(encoding="utf-8")
    start, end = (moment.timestamp() for moment in event.window)
    try:
        answer = queries.run(text, log_group, start, end, _LONGEST_QUERY_SECONDS, streams)
    except TooManyRows:  # one row is enough
        return [{}], event
    scanned = event.bytes_scanned + answer.bytes_scanned
    return answer.rows, event.model_copy(update={"bytes_scanned": scanned})
