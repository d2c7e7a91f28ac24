"""The advice for metrics without a verdict: the command that measures again."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from tidemark.figures.verdicts.rule import ALARMS
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.model.numerals import duration
from tidemark.model.parameters import Value, count, described
from tidemark.model.plan import Plan
from tidemark.model.results import TestResult, TrialResult
from tidemark.model.run_size import most_trials
from tidemark.model.run_spec import CONFIRMATION, FEWEST, RunSpec
from tidemark.model.sentences import listed, plural
from tidemark.model.suite import MOST_REPETITIONS, ROUNDS, Suite
from tidemark.money.run_cost import run_cost
from tidemark.report.blocks import Command
from tidemark.report.run_report.measured import MeasuredRun

# The factor for the size of tests if even the most repetitions would give no verdict.
_LONGER = 10
_MOST_NAMES = 3
_CHANCE = "It decides in four cases of five if rates change and scatter as before."


class Basis(NamedTuple):
    """A measured run, from which the time and the cost of another one are estimated."""

    plan: Plan
    trials: Sequence[TrialResult]

    def expected(self, trials: int, longer: Mapping[str, Value]) -> str:
        """Return how long other trials take and what they cost, '' if nobody can know."""
        measured = [each for each in self.trials if each.status == "ok"]
        if not measured or not all(test.started_at and test.ended_at for each in measured
                                   for test in each.tests):  # fmt: skip
            return ""
        seconds = sum(_seconds(each.tests) for each in measured)
        more = sum(self._more_seconds(test, longer) for each in measured for test in each.tests)
        factor = (1 + more / seconds if seconds else 1.0) * trials / len(measured)
        together = len(self.plan.request.measured_versions)
        shared = together if self.plan.request.layout == ROUNDS else 1
        at_once = self.plan.request.parallel or 1
        cost = run_cost(self.plan, measured)
        usd = f", and {cost.total * factor:,.2f} USD on AWS" if cost else ""
        of_tests = math.ceil(seconds * factor / shared / at_once)
        return f"It takes about {duration(of_tests)} of tests{usd}."

    def _more_seconds(self, result: TestResult, longer: Mapping[str, Value]) -> float:
        """Return by how much a test lasts longer with greater values of its parameters [s]."""
        test, before = self.plan.suite.test(result.test), self.plan.request.parameters
        grown = [name for name in test.per if name in longer and float(before[name])]
        factor = math.prod(float(longer[name]) / float(before[name]) for name in grown)
        return (factor - 1) * max(0.0, _seconds([result]) - test.fixed_seconds)


def _seconds(tests: Iterable[TestResult]) -> float:
    """Return the time from the first start of tests to the last end [s]."""
    spans = [(test.started_at, test.ended_at) for test in tests]
    starts = [start for start, _ in spans if start]
    ends = [end for _, end in spans if end]
    return (max(ends) - min(starts)).total_seconds() if starts and ends else 0.0


def again(
    how: str,
    basis: Basis,
    request: RunSpec,
    versions: Sequence[str],
    verdicts: Iterable[Verdict],
    *,
    baseline: str = "",
) -> Command:
    """Return how to measure versions again, with the repetitions and parameters that tell.

    ``versions`` are as ``tidemark run`` takes them.
    """
    suite = basis.plan.suite
    undecided = list(filter(is_open, verdicts))
    needed = max(request.repetitions, FEWEST, *_needed(undecided))
    repetitions = max(FEWEST, min(needed, _room(suite, request, versions)))
    short = list(filter(is_hopeless, undecided))
    tests = {verdict.quantity.test for verdict in short}
    longer = dict(_longer(suite, request.parameters, tests))
    extent = f"about {repetitions} repetitions"
    words = _of_versions(suite, versions, baseline)
    if request.until:
        extent = f"at most {repetitions} repetitions until decided"
        words.append(f"--until {request.until}")
    trials = repetitions * len(versions) * count(request.axes)
    return Command(
        f"Measure {how}, with {extent}{_why(short, longer)}",
        " ".join([*words, f"--repetitions {repetitions}", *_options(suite, request, longer)]),
        " ".join(filter(None, [basis.expected(trials, longer), _chance(undecided, short)])),
    )


def _room(suite: Suite, request: RunSpec, versions: Sequence[str]) -> int:
    """Return the most repetitions that a run of some versions has room for."""
    room = most_trials(suite, request.tasks) // (len(versions) * count(request.axes))
    return room - CONFIRMATION if request.until else room


def _chance(undecided: Iterable[Verdict], short: Sequence[Verdict]) -> str:
    # Too few pairs say too little about their spread, from which the power could be estimated.
    is_known = any(verdict.judgement.pairs >= FEWEST for verdict in undecided)
    return _CHANCE if is_known and not short else ""


def confirming(
    basis: Basis,
    request: RunSpec,
    changed: Mapping[str, Sequence[str]],
    unconfirmed: Iterable[Verdict],
) -> Command:
    """Return how to measure the new pairs that confirm the changes of some metrics, or do not.

    ``changed`` are the changed versions by their base, both as ``tidemark run`` takes them. A base
    is always named: the new pairs have to be of the same two versions, whatever their order.
    """
    suite = basis.plan.suite
    options = ["--until decided", *_options(suite, request, {})]
    commands = "; ".join(
        " ".join([*_of_versions(suite, [base, *versions], base), *options])
        for base, versions in changed.items()
    )
    versions = sum(1 + len(versions) for versions in changed.values())
    return Command(
        f"No new pairs have confirmed the change of {_names(unconfirmed)}. These would",
        commands,
        basis.expected(2 * FEWEST * versions * count(request.axes), {}),
    )


def _another_version(basis: Basis) -> Command | None:
    """Return how to measure a second version beside the only one; None if the suite has none."""
    plan, request = basis.plan, basis.plan.request
    (version,) = request.versions
    released = [each for each in plan.suite.subject.versions if each not in request.builds]
    others = sorted((each for each in released if each != version), key=plan.version_order)
    if not others or plan.suite.subject.instance:
        return None
    before = [each for each in others if plan.version_order(each) < plan.version_order(version)]
    other = before[-1] if before else others[0]
    repetitions = max(request.repetitions, FEWEST)
    words = _of_versions(plan.suite, [requested(plan, each) for each in (other, version)], "")
    return Command(
        f"{version} has nothing to be compared with. Measure another version beside it",
        " ".join([*words, f"--repetitions {repetitions}", *_options(plan.suite, request, {})]),
        basis.expected(2 * repetitions * count(request.axes), {}),
    )


def _of_versions(suite: Suite, versions: Sequence[str], baseline: str) -> list[str]:
    words = ["tidemark run", suite.name, f"--versions {','.join(versions)}"]
    return [*words, f"--baseline {baseline}"] if baseline else words


def is_unconfirmed(verdict: Verdict) -> bool:
    """Tell whether a verdict is an alarm that no new pairs have confirmed."""
    return verdict.judgement.word in ALARMS and verdict.stage == "first"


def is_open(verdict: Verdict) -> bool:
    """Tell whether further pairs, or pairs of longer tests, may give a missing verdict."""
    return bool(verdict.more_pairs) or is_hopeless(verdict)


def is_hopeless(verdict: Verdict) -> bool:
    """Tell whether the pairs scatter too much for a verdict even from the most repetitions."""
    judgement = verdict.judgement
    undecided = judgement.word == "cannot tell" and judgement.pairs >= FEWEST
    return undecided and verdict.more_pairs is None


def requested(plan: Plan, version: str) -> str:
    """Return a version as ``tidemark run`` takes it: a build by the path of its wheel."""
    wheel = plan.request.builds.get(version)
    return shlex.quote(unquote(urlsplit(wheel).path) if wheel else version)


def _needed(undecided: Iterable[Verdict]) -> Iterator[int]:
    for verdict in undecided:
        if verdict.more_pairs:
            yield verdict.judgement.pairs + verdict.more_pairs


def _why(short: Sequence[Verdict], longer: Mapping[str, Value]) -> str:
    """Return why tests have to be longer, '' if they are long enough."""
    if not short:
        return ""
    return (
        f" and {described(longer) or 'longer tests'}, because {MOST_REPETITIONS} repetitions "
        f"of such short tests would give no verdict on {_names(short)}"
    )


def _names(verdicts: Iterable[Verdict]) -> str:
    """Return the first names of the metrics of verdicts, and how many more there are.

    Several figures of a metric have its name and their number.
    """
    figures: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for quantity in (verdict.quantity for verdict in verdicts):
        figures[quantity.metric.name][quantity.name] = None
    names = [
        f"{metric} ({len(of_metric)} figures)" if len(of_metric) > 1 else next(iter(of_metric))
        for metric, of_metric in figures.items()
    ]
    more = len(names) - _MOST_NAMES
    rest = f" and {plural(more, 'more metric')}" if more > 0 else ""
    return f"{listed(names[:_MOST_NAMES])}{rest}"


def _longer(
    suite: Suite, parameters: Mapping[str, Value], tests: Set[str]
) -> Iterator[tuple[str, Value]]:
    """Yield greater values of the parameters that the time of these tests grows with."""
    scaling = {name for test in suite.tests if test.name in tests for name in test.per}
    for name, value in parameters.items():
        if name in scaling and not isinstance(value, str):
            longer = min(_LONGER * value, suite.parameters[name].most or value)
            if longer > value:
                yield name, longer


def _options(suite: Suite, request: RunSpec, longer: Mapping[str, Value]) -> Iterator[str]:
    """Yield the options of a run, some longer, that a run does not have by default."""
    for name, value in {**request.parameters, **longer}.items():
        if value != suite.parameters[name].default:
            yield f"--set {shlex.quote(f'{name}={value}')}"
    if request.layout != suite.defaults.layout:
        yield f"--layout {request.layout}"
    for name, values in request.axes.items():
        if values != suite.default_axes.get(name):
            given = ",".join(values)
            yield f"--axis {shlex.quote(f'{name}={given}')}"


def after_search(run: MeasuredRun, before: str, slower: str) -> str | Command:
    """Return how to find the cause once a search has found the first slower version."""
    plan, suite = run.plan, run.plan.suite
    cause = f"Find out what changed from {before} to {slower}"
    if suite.profiler is None:
        return f"{cause}, or accept it with a reason."
    words = _of_versions(suite, [requested(plan, each) for each in (before, slower)], "")
    return Command(
        f"{cause}. Profiles name the functions that grew",
        " ".join([*words, "--repetitions 1 --profile", *_options(suite, plan.request, {})]),
    )


def advice_on_run(run: MeasuredRun) -> Command | None:
    """Return what to measure for the verdicts on metrics that decide; None if none is missing.

    A search has an end of its own, an instance or an imported figure has no pairs, and the changes
    of slowed versions are known.
    """
    plan, request = run.plan, run.plan.request
    basis = Basis(plan, run.trials)
    ended = plan.imported or request.bisect or request.slowed
    if not ended and len(request.versions) == 1 and not run.unrecorded():
        return _another_version(basis)
    verdicts = [] if ended else list(_deciding_verdicts(run))
    unconfirmed = list(filter(is_unconfirmed, verdicts))
    if not unconfirmed and not any(map(is_open, verdicts)):
        return None
    if _has_missing_trials(run, verdicts):
        left = basis.expected(len(run.unrecorded()), {})
        return Command("Measure the missing trials", f"tidemark run --resume {plan.run_id}", left)
    if unconfirmed:
        changed: defaultdict[str, list[str]] = defaultdict(list)
        for base, version in dict.fromkeys((each.base, each.version) for each in unconfirmed):
            changed[requested(plan, base)].append(requested(plan, version))
        return confirming(basis, request, changed, unconfirmed)
    versions = [requested(plan, version) for version in request.versions]
    baseline = requested(plan, request.baseline) if request.baseline else ""
    return again("again", basis, request, versions, verdicts, baseline=baseline)


def _deciding_verdicts(run: MeasuredRun) -> Iterator[Verdict]:
    for quantity in (each for each in run.quantities if each.metric.decides):
        for rate in run.rates_of(quantity):
            if verdict := run.against_base(quantity, rate):
                yield verdict


def _has_missing_trials(run: MeasuredRun, verdicts: Iterable[Verdict]) -> bool:
    """Tell whether the run was to measure more; one until decided, for an open verdict.

    A run whose time is over measures nothing more.
    """
    request = run.plan.request
    if request.until:
        return not request.within_seconds and any(verdict.more_pairs for verdict in verdicts)
    return bool(run.unrecorded())
