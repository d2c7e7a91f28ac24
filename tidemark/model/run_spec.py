"""The resolved request of a run, as its plan keeps it, and its search for a slower version."""

import json
import math
import operator
from collections.abc import Collection, Sequence
from datetime import datetime

from pydantic import Field

from tidemark.model.base import Frozen
from tidemark.model.instance import INSTANCE
from tidemark.model.labels import figure_name
from tidemark.model.metric import Metric
from tidemark.model.parameters import TASKS, Axes, Value, count
from tidemark.model.profile import Profiling
from tidemark.model.refusal import Refused
from tidemark.model.run_id import MOST_TRIALS
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.suite import (
    MOST_REPETITIONS,
    TRIALS,
    Layout,
    Suite,
    Until,
    Within,
    is_trials,
)


class Search(Frozen):
    """The search of a run among versions in ascending order, the base first."""

    metric: str
    versions: tuple[str, ...]

    @property
    def most_comparisons(self) -> int:
        """The most versions that are compared with the base: the newest, then halves of the rest.

        One comparison, and the logarithm to the base 2 of the number of versions after the base.
        """
        return 1 + (len(self.versions) - 2).bit_length()


def follows(search: Search, metric: Metric, statistic: str) -> bool:
    """Tell whether a statistic of a metric is the one that a search follows."""
    return figure_name(metric.name, statistic, "") == search.metric


def between(
    suite: Suite,
    base: str,
    new: str,
    metric: str,
    axes: Axes,
    among: Collection[str] | None = None,
) -> Search:
    """Return the search from ``base`` to ``new`` among versions, by default the suite's.

    Raises
    ------
    Refused
        If one of both is not listed or does not follow the other, if their order is not known, if
        the metric does not decide a run, or is not of one test, or if the run measures several
        combinations of axes.

    """
    check_listed("base", base, suite, among)
    check_listed("new", new, suite, among)
    _check_order(suite, (base, new))
    versions = _between(suite, base, new, among)
    if not versions:
        raise Refused(f"bisect.new: {new} does not follow {base}; expected a newer version")
    _check_order(suite, versions)
    _check_metric(suite, metric)
    if count(axes) > 1:
        wanted = listed(name for name, values in axes.items() if len(values) > 1)
        raise Refused(f"axes: a search measures one value of each axis; give one value of {wanted}")
    return Search(metric=metric, versions=versions)


def check_listed(
    field: str, version: str, suite: Suite, among: Collection[str] | None = None
) -> None:
    """Refuse a version of the field ``base`` or ``new`` that is not ``among`` those to search.

    By default these are the versions that the suite lists.
    """
    versions = suite.subject.versions if among is None else among
    if version not in versions:
        known = there_are(versions, version)
        raise Refused(f"bisect.{field}: {suite.name} lists no {shown(version)}; {known}")


def _check_order(suite: Suite, versions: Sequence[str]) -> None:
    if not suite.subject.knows_order(versions):
        raise Refused(
            f"bisect.new: the order of {listed(versions)} is not known, and a search needs it; "
            "compare the versions one by one"
        )


def _between(suite: Suite, base: str, new: str, among: Collection[str] | None) -> tuple[str, ...]:
    """Return the versions from one to another; none if they do not follow each other."""
    order = suite.subject.version_order
    if order(base) > order(new):
        return ()
    return tuple(
        version
        for version in sorted(among or suite.subject.versions, key=order)
        if order(base) <= order(version) <= order(new)
    )


def _check_metric(suite: Suite, name: str) -> None:
    names = [
        figure_name(metric.name, statistic, "")
        for test in suite.tests
        for metric, statistic in test.figures()
        if metric.decides
    ]
    if name not in names:
        known = there_are(names, name)
        raise Refused(f"bisect.metric: {shown(name)} decides no run of {suite.name}; {known}")
    if names.count(name) > 1:
        sentence = f"several tests of {suite.name} have {name}; expected a metric of one test"
        raise Refused(f"bisect.metric: {sentence}")


MOST_PARALLEL = 12
"""The most rounds of a run that are measured at once, each on a host of its own."""
FEWEST = 5
"""The fewest pairs that may have a verdict."""
CONFIRMATION = 60
"""The most pairs of a confirmation. With the few pairs of a first stage it would often fail."""


def most_until_decided(versions: Collection[str], fitting: int, repetitions: int | None) -> int:
    """Return the most repetitions before a confirmation, by default as many as fit into a run.

    ``fitting`` is the number of repetitions that a run has room for.

    Raises
    ------
    Refused
        If so few repetitions, or so few versions, have no verdict.

    """
    if len(versions) < 2:
        raise Refused(f"until: {listed(versions)} alone has no verdict; name two versions or more")
    if repetitions is None:
        return max(FEWEST, min(MOST_REPETITIONS, fitting - CONFIRMATION))
    if repetitions < FEWEST:
        raise Refused(
            f"repetitions: {repetitions} are too few to decide a verdict; expected {FEWEST} or more"
        )
    return repetitions


class RunSpec(Frozen):
    """A resolved request: every field has a value, and the suite has every version."""

    suite: str
    versions: tuple[str, ...]
    builds: dict[str, str] = Field(default={})
    """The wheel of each version that is not a release, as a URL with its digest."""
    slowed: dict[str, int] = Field(default={}, exclude_if=operator.not_)
    """The percentage by which each version is slowed that is the baseline under another name."""
    baseline: str | None
    repetitions: int
    parameters: dict[str, Value]
    """The value of every parameter of the suite, and the id of an instance."""
    axes: dict[str, tuple[str, ...]] = Field(default={}, exclude_if=operator.not_)
    """The values of every axis of the suite that the run measures."""
    canary: str | None = Field(default=None, exclude_if=operator.not_)
    """The version that every repetition measures for the history; None without a canary."""
    note: str
    trigger: str
    scheduled_at: datetime | None = None
    budget_usd: float | None = None
    tests: tuple[str, ...] = Field(default=(), exclude_if=operator.not_)
    """The tests of the suite that the run measures; () for all."""
    layout: Layout = Field(default=TRIALS, exclude_if=is_trials)
    parallel: int | None = Field(default=None, exclude_if=operator.not_)
    """The rounds that are measured at once on AWS, as PlanRun finds room for; one machine measures
    one."""
    until: Until | None = None
    """The end of the run: None after all repetitions."""
    within_seconds: Within | None = Field(default=None, exclude_if=operator.not_)
    """The time after which a run until decided begins no further repetition [s]; None for any."""
    keep_going: bool = Field(default=False, exclude_if=operator.not_)
    """Whether the run measures every trial, whatever fails."""
    bisect: Search | None = Field(default=None, exclude_if=operator.not_)
    """The search whose versions the run compares one after another; ``versions`` has the base and
    those that it has compared so far, in their order."""
    profile: Profiling | None = Field(default=None, exclude_if=operator.not_)
    """The profiled trials of each version, which count in no rate; None without any."""

    def measured(self, suite: Suite) -> Suite:
        """Return a suite as the run measures it: its tests in the run's layout and numbers."""
        return suite.measured_by(self.layout, self.tests, self.parameters)

    @property
    def other_parameters(self) -> str | None:
        """The parameters as JSON; None if tasks and records are all, or if they are unknown."""
        if self.trigger == "import" or self.parameters.keys() == {"tasks", "records"}:
            return None
        return json.dumps(self.parameters, sort_keys=True, ensure_ascii=False)

    @property
    def most_repetitions(self) -> int:
        """The most repetitions of the run, with the repetitions of a confirmation.

        Each comparison of a search has as many.
        """
        return self.repetitions + (CONFIRMATION if self.until else 0)

    @property
    def most_trials(self) -> int:
        """The most trials of the run: measured versions × combinations of axes × repetitions."""
        if self.bisect is None:
            return len(self.measured_versions) * count(self.axes) * self.most_repetitions
        of_repetition = len(self.side_by_side(self.versions[-1])) * count(self.axes)
        trials = of_repetition * self.most_repetitions * self.bisect.most_comparisons
        return min(MOST_TRIALS, trials)

    @property
    def profiled_trials(self) -> int:
        """The number of profiled trials of all versions that were asked for."""
        return len(self.versions) * self.profile.trials if self.profile else 0

    @property
    def all_trials(self) -> int:
        """The most trials of the run, with the profiled trials."""
        return self.most_trials + self.profiled_trials

    def trials_within(self, trial_seconds: float) -> int:
        """Return the most trials of the run, with the profiled trials, if one takes some time.

        In a round it is a version's share of the time.
        """
        of_repetition = len(self.measured_versions) * count(self.axes)
        return self._trials_within(of_repetition * trial_seconds)

    def trials_in_batches(self, round_seconds: float) -> int:
        """Return the most trials, with the profiled trials, if each batch takes a round's time.

        A batch has all rounds that are measured at once. In the layout ``trials`` each trial is a
        batch.
        """
        shared = 1 if self.layout != TRIALS else len(self.measured_versions)
        rounds = count(self.axes) * shared
        seconds = round_seconds * math.ceil(rounds / self.at_once)
        return self._trials_within(seconds, max(1, self.at_once // rounds))

    def _trials_within(self, seconds: float, at_once: int = 1) -> int:
        """Return the most trials if ``at_once`` repetitions take some time together."""
        if self.within_seconds is None:
            return self.all_trials
        of_repetition = len(self.measured_versions) * count(self.axes)
        repetitions = max(FEWEST, math.ceil(self.within_seconds / seconds) * at_once)
        return min(of_repetition * repetitions + self.profiled_trials, self.all_trials)

    @property
    def at_once(self) -> int:
        """The most rounds that are measured at once."""
        return 1 if self.layout == TRIALS else self.parallel or MOST_PARALLEL

    @property
    def until_decided(self) -> str:
        """How long the run goes on, if until it is decided."""
        if self.within_seconds:
            return (
                f"until decided, or for {self.within_seconds:,} s and at least {FEWEST} repetitions"
            )
        each = " in each comparison" if self.bisect else ""
        most = f"{self.repetitions:,} repetitions and {CONFIRMATION} to confirm"
        return f"until decided, at most {most}{each}"

    @property
    def tasks(self) -> int:
        """The number of tasks that do each test side by side."""
        return int(self.parameters.get(TASKS, 1))

    @property
    def instance(self) -> str | None:
        """The id of the instance that the run measures; None if it measures none."""
        instance = self.parameters.get(INSTANCE)
        return None if instance is None else str(instance)

    @property
    def measured_versions(self) -> tuple[str, ...]:
        """The versions that each repetition measures: those that were asked for, and the canary."""
        return self._with_canary(self.versions)

    @property
    def possible(self) -> tuple[str, ...]:
        """The versions that the run may measure, those that a search may come to among them."""
        return self._with_canary(self.bisect.versions if self.bisect else self.versions)

    def side_by_side(self, version: str) -> tuple[str, ...]:
        """Return the versions that a repetition measures to compare one with the baseline."""
        return self._with_canary((self.baseline or "", version))

    def _with_canary(self, versions: tuple[str, ...]) -> tuple[str, ...]:
        is_extra = self.canary is not None and self.canary not in versions
        return (*versions, self.canary) if self.canary and is_extra else versions


def released(request: RunSpec, version: str) -> str:
    """Return the release that a version of a run is: the baseline if it is slowed."""
    return request.baseline or version if version in request.slowed else version


def beside(request: RunSpec) -> str:
    """Return the canary for a sentence, '' if a run measures none beside its versions."""
    is_extra = request.measured_versions != request.versions
    return f" beside the canary {request.canary}" if is_extra else ""


def requirement(request: RunSpec, suite: Suite, version: str) -> str:
    """Return what installs a version of a run; see ``Subject.requirement``."""
    version = released(request, version)
    if version not in request.builds:
        return suite.subject.requirement(version)
    wheel = f"{suite.subject.package or suite.name}@{request.builds[version]}"
    return " ".join([wheel, *suite.subject.newest_companions()])
