"""The search for the most users that a service supports: its rules and its bounds."""

import operator

from pydantic import Field

from tidemark.model.frozen import Frozen
from tidemark.model.metric import Share
from tidemark.model.sentences import plural


class Plateaus(Frozen):
    """The rule that doubles the users until a level fails, and then halves the bracket."""

    first: int = Field(default=8, strict=True, ge=1, le=100_000)
    """The users of the first level."""
    bracket: Share = 0.04
    """The width of the bracket at which a search ends, as a share of its upper end."""
    searches: int = Field(default=3, strict=True, ge=1, le=20)
    """The searches, one after the other: each gives a figure."""

    @property
    def text(self) -> str:
        """The rule for people."""
        searches = plural(self.searches, "search", "searches")
        return f"plateaus from {self.first:,} users, {searches} to {100 * self.bracket:g} %"


class Equilibrium(Frozen):
    """The rule by which users, or any quantity over time, stay level.

    Source: the coordinator of Mattermost's load tests, mattermost-load-test-ng,
    ``coordinator/coordinator.go``; the swing is Tidemark's.
    """

    window_seconds: float = Field(default=1_800, gt=0, le=36_000)
    """The time over which the quantity has to stay level [s]."""
    slope: float = Field(default=0.2, gt=0, le=1_000_000)
    """The least slope of the line through the window at which it is not level [1/s]."""
    swing: Share = 0.1
    """The greatest scatter at which it is level: the standard deviation, as a share of the mean."""


class Feedback(Equilibrium):
    """The rule that adds users until a limit is hit, and then follows the limit step by step.

    A scatter of two steps is level, too.
    """

    step: int = Field(default=8, strict=True, ge=1, le=10_000)
    """The users that a level has more or fewer than the one before."""

    @property
    def text(self) -> str:
        """The rule for people."""
        return f"feedback by {self.step:,} users, level over {self.window_seconds:,g} s"


class Bounds(Frozen):
    """The bounds at which a search ends in any case."""

    users: int = Field(strict=True, ge=1, le=1_000_000)
    """The most users of a level."""
    seconds: int = Field(strict=True, ge=1, le=69_120)
    """The time after which no level begins [s]."""
    levels: int = Field(default=60, strict=True, ge=1, le=10_000)
    """The most levels; the history of a trial bounds them, too."""
    usd: float | None = Field(default=None, gt=0, le=1_000_000, exclude_if=operator.not_)
    """The cost of the services during the search, at AWS's list prices, after which no level begins
    [USD]. A service with sizes counts with its size in the trial."""

    @property
    def text(self) -> str:
        """The bounds for people."""
        usd = "" if self.usd is None else f", {self.usd:g} USD"
        return f"at most {self.users:,} users, {self.seconds:,} s, {self.levels:,} levels{usd}"
