"""The load of a test: levels of users, one after the other, until the most are found."""

import math
import operator
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from pydantic import Field

from tidemark.model.base import Consistent, Frozen, Name
from tidemark.model.metric import Share
from tidemark.model.refusal import Problem, problem
from tidemark.model.sentences import listed, plural


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
    """The number of users by which a level differs from the level before."""

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


LEVEL_COLUMNS = ("@logStream", "level", "users")
"""The columns of a load's query beside the columns of its limits."""
CONNECTED = "connected"
"""The limit of every load: the share of a level's users that have to be connected, 95 %."""
Limit = Annotated[float, Field(allow_inf_nan=False)]
SETTLE_SECONDS, HOLD_SECONDS, REPORT_SECONDS = 5, 10, 120


class Load(Consistent):
    """Levels of users that services of the test put on another service."""

    agents: tuple[Name, ...] = Field(min_length=1, max_length=7)
    """The services of the test that make the load; they share the users of a level."""
    query: Name
    """The query of what each agent measured at a level: ``<query>.cwli`` beside the suite."""
    limits: dict[Name, Limit] = Field(min_length=1, max_length=10)
    """The greatest accepted value of each column of the query, such as ``{mean_ms: 100}``: a
    greater one of any agent hits the limit."""
    agent_limits: dict[Name, Limit] = Field(default={}, max_length=10, exclude_if=operator.not_)
    """The same for columns that describe an agent itself, such as ``{cpu: 0.8}``: a greater value
    fails the test, because the agent was the limit and not the service."""
    recorded: tuple[Name, ...] = Field(default=(), max_length=10, exclude_if=operator.not_)
    """Further columns of the query that are kept with each level, such as ``[stolen]``."""
    settle_seconds: int = Field(default=SETTLE_SECONDS, strict=True, ge=0, le=600)
    """The time after a change of the users that is not measured [s]."""
    hold_seconds: int = Field(default=HOLD_SECONDS, strict=True, ge=1, le=3_600)
    """The time that is measured [s]."""
    report_seconds: int = Field(default=REPORT_SECONDS, strict=True, ge=10, le=900)
    """The time after which a level that an agent has not logged fails the test, 10 to 900 [s]."""
    plateaus: Plateaus | None = Field(default=None, exclude_if=operator.not_)
    """The [rule](#load) of plateaus; with neither rule it holds with its defaults."""
    feedback: Feedback | None = Field(default=None, exclude_if=operator.not_)
    """The [rule](#load) of feedback."""
    bounds: Bounds
    """The bounds at which a search ends in any case."""

    @property
    def rule(self) -> Plateaus | Feedback:
        """The rule of the search."""
        return self.plateaus or self.feedback or Plateaus()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the query with numbers that are kept: the greatest value of any agent."""
        return (*self.limits, *self.agent_limits, *self.recorded)

    @property
    def level_seconds(self) -> int:
        """The time of one level [s]."""
        return self.settle_seconds + self.hold_seconds

    @property
    def timeout_seconds(self) -> int:
        """The time limit [s]: a level that has begun ends."""
        return self.bounds.seconds + self.level_seconds + self.report_seconds

    @property
    def questions(self) -> int:
        """The most questions what the agents have logged; the pauses between them double."""
        return self.bounds.levels * (2 + math.ceil(math.log2(self.report_seconds)))

    @property
    def text(self) -> str:
        """The load for people: its limits, the times of a level, its rule and its bounds."""
        limits = {**self.limits, **self.agent_limits}
        accepted = listed(f"{name} up to {most:,g}" for name, most in limits.items())
        times = f"{self.settle_seconds} s to settle and {self.hold_seconds} s held"
        return f"{accepted}; {times}; {self.rule.text}; {self.bounds.text}"

    def shares(self, users: int) -> dict[str, int]:
        """Return the users of each agent, which differ by one at most."""
        each, more = divmod(users, len(self.agents))
        return {name: each + (place < more) for place, name in enumerate(self.agents)}

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the fields do not fit each other."""
        if self.plateaus and self.feedback:
            yield Problem((), "there are plateaus and feedback; expected one of both")
        for name in ("limits", "agent_limits", "recorded"):
            if taken := sorted({*LEVEL_COLUMNS} & {*getattr(self, name)}):
                yield problem((name,), f"{listed(taken)} is a column of every load")
        if CONNECTED in self.columns:
            yield problem(("limits",), f"{CONNECTED} is a limit of every load")
        if repeated := sorted({name for name in self.columns if self.columns.count(name) > 1}):
            where = "limits, agent_limits and recorded"
            yield Problem((), f"{listed(repeated)} is given twice in {where}; expected it once")
        if self.feedback:
            yield from self._endless(self.feedback)
        if len({*self.agents}) < len(self.agents):
            yield problem(("agents",), f"a name is given twice in {listed(self.agents)}")

    def _endless(self, feedback: Feedback) -> Iterator[Problem]:
        """Yield why feedback cannot end with a figure within its bounds."""
        longest = min(self.bounds.seconds, self.bounds.levels * self.level_seconds)
        least = 3 * self.level_seconds
        if not least <= feedback.window_seconds < longest:
            sentence = f"{feedback.window_seconds:g} is not accepted; expected {least} or more"
            accepted = f"{sentence} (three levels), and less than {longest} (the bounds)"
            yield problem(("feedback", "window_seconds"), accepted)
        if feedback.step > self.bounds.users:
            sentence = f"{feedback.step} is not accepted; expected {self.bounds.users} or less"
            yield problem(("feedback", "step"), f"{sentence} (the bounds)")


class HeldLevel(Frozen):
    """A level of users that the agents have held and logged."""

    users: int
    connected: float
    """The users that the agents had."""
    values: dict[str, float]
    """The greatest value of any agent, by column."""
    hit: tuple[str, ...]
    """The limits that were hit."""
    agents_hit: tuple[str, ...] = Field(default=(), exclude_if=operator.not_)
    """The limits of the agents themselves that were hit."""
    begun_at: datetime | None = Field(default=None, exclude_if=operator.not_)
    """The start of the level; None in old results."""
    ended_at: datetime
    decision: str = Field(default="", exclude_if=operator.not_)
    """The state of the search after the level, in words; '' in old results."""
    cpu: dict[str, float] = Field(default={}, exclude_if=operator.not_)
    """The mean CPU that each service of the test used from start to end [vCPU], where known."""


class LoadCourse(Frozen):
    """The course of a load: the level that the agents hold now, and those before it.

    The agents read it, too: they hold ``users[<agent>]`` for settle and hold seconds, log the level
    by its number, and end once the load is over.
    """

    level: int
    """The number of the level, from 1."""
    users: dict[str, int]
    """The users of each agent."""
    settle_seconds: int
    hold_seconds: int
    started_at: datetime
    """The start of the first level."""
    begun_at: datetime
    """The start of the level."""
    held: tuple[HeldLevel, ...] = ()
    """The levels before, in order."""
    over: bool = False
    found: tuple[float, ...] = ()
    """The supported users of each search that is done."""
    end: str = ""
    """The kind of end; '' while the search goes on."""
    reason: str = ""
    """The reason of the end, or the state of the search, in words."""

    @property
    def bracket(self) -> tuple[int, int] | None:
        """The most users up to those found that hit no limit, and the fewest from there that did.

        Of several searches it is the widest; None if a search lacks an end.
        """
        ends = [_bracket(self.held, found) for found in self.found]
        if not ends or not all(low and high for low, high in ends):
            return None
        return min(low for low, _ in ends), max(high for _, high in ends)


def _bracket(levels: tuple[HeldLevel, ...], found: float) -> tuple[int, int]:
    """Return the users of the levels next to those found, 0 without such a level."""
    held = (each.users for each in levels if not each.hit and each.users <= found)
    failed = (each.users for each in levels if each.hit and each.users >= found)
    return max(held, default=0), min(failed, default=0)
