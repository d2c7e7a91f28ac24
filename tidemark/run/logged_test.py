"""The part of a test that CollectRates needs to read its logs."""

from datetime import datetime, timedelta

from tidemark.model.results import TaskResult
from tidemark.run.events import TrialEvent

# The clocks of ECS and Step Functions may differ; streams, not times, tell trials apart.
_CLOCK_MARGIN = timedelta(minutes=1)


class LoggedTest(TrialEvent):
    """A test of a trial with the tasks that have ended, whose logs are read."""

    test: str
    tasks: list[TaskResult]
    started_at: datetime
    now: datetime
    bytes_scanned: int
    """The bytes scanned by the earlier queries of the test."""

    @property
    def window(self) -> tuple[datetime, datetime]:
        """The times between which the tasks wrote their lines."""
        return self.started_at - _CLOCK_MARGIN, self.now + _CLOCK_MARGIN
