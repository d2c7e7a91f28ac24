"""The alarm that the level of a metric changed, for people and programs."""

from typing import Literal

from tidemark.model.frozen import Frozen
from tidemark.model.numerals import percent


class LevelAlarm(Frozen):
    """A change of level that somebody has to be told, once."""

    test: str
    metric: str
    name: str
    """The figure, with its statistic and labels."""
    run_id: str
    """The first run on the new level."""
    version: str
    """The newest version of that run."""
    version_before: str
    """The newest version of the run before."""
    verdict: Literal["slower", "faster"]
    change: float
    """(after - before) / before, 0.1 being 10 % more."""
    told_by: str
    """The run whose message tells it."""

    @property
    def sentence(self) -> str:
        """The change in words."""
        return (
            f"{self.name} is {percent(abs(self.change))} {self.verdict} since run {self.run_id} "
            f"({self.version} after {self.version_before})."
        )
