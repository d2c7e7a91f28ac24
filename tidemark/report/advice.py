"""The advice for metrics without a verdict: the command that measures again."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from tidemark.figures.verdicts.rule import ALARMS
from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.model.parameters import Value, described
from tidemark.model.plan import Plan
from tidemark.model.run_spec import FEWEST, RunSpec
from tidemark.model.sentences import listed, plural
from tidemark.model.suite import MOST_REPETITIONS, Suite
from tidemark.report.run_report.measured import MeasuredRun

# The factor for the size of tests if even the most repetitions would give no verdict.
_LONGER = 10
_MOST_NAMES = 3
_TELLS = ", which would give a verdict in four cases of five if rates change and scatter as before"


def again(
    how: str,
    suite: Suite,
    request: RunSpec,
    versions: Sequence[str],
    metrics: Iterable[tuple[str, Verdict]],
    *,
    baseline: str = "",
) -> str:
    """Return how to measure versions again, with the repetitions and parameters that tell.

    ``versions`` are as ``tidemark run`` takes them, and ``metrics`` are names with verdicts.
    """
    undecided = [(name, verdict) for name, verdict in metrics if is_open(verdict)]
    repetitions = max(request.repetitions, FEWEST, *_needed(undecided))
    short = list(dict.fromkeys(name for name, verdict in undecided if is_hopeless(verdict)))
    longer = _longer(suite, request.parameters) if short else {}
    extent = f"about {repetitions} repetitions"
    words = _of_versions(suite, versions, baseline)
    if request.until:
        extent = f"at most {repetitions} repetitions until decided"
        words.append(f"--until {request.until}")
    command = " ".join([*words, f"--repetitions {repetitions}", *_options(suite, request, longer)])
    return f"Measure {how}, with {extent}{_why(undecided, short, longer)}: {command}"


def confirming(
    suite: Suite,
    request: RunSpec,
    changed: Mapping[str, Sequence[str]],
    names: Sequence[str],
) -> str:
    """Return how to measure the new pairs that confirm the changes of some metrics, or do not.

    ``changed`` are the changed versions by their base, both as ``tidemark run`` takes them. A base
    is always named: the new pairs have to be of the same two versions, whatever their order.
    """
    more = len(names) - _MOST_NAMES
    rest = f" and {plural(more, 'more metric')}" if more > 0 else ""
    options = ["--until decided", *_options(suite, request, {})]
    commands = "; ".join(
        " ".join([*_of_versions(suite, [base, *versions], base), *options])
        for base, versions in changed.items()
    )
    named = f"{listed(names[:_MOST_NAMES])}{rest}"
    return f"No new pairs have confirmed the change of {named}. These would: {commands}"


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


def _needed(undecided: Iterable[tuple[str, Verdict]]) -> Iterator[int]:
    for _, verdict in undecided:
        if verdict.more_pairs:
            yield verdict.judgement.pairs + verdict.more_pairs


def _why(
    undecided: Iterable[tuple[str, Verdict]], short: Sequence[str], longer: Mapping[str, Value]
) -> str:
    if short:
        more = len(short) - _MOST_NAMES
        rest = f" and {plural(more, 'more metric')}" if more > 0 else ""
        return (
            f" and {described(longer) or 'longer tests'}, because {MOST_REPETITIONS} repetitions "
            f"of such short tests would give no verdict on {listed(short[:_MOST_NAMES])}{rest}"
        )
    # Too few pairs say too little about their spread, from which the power could be estimated.
    is_known = any(verdict.judgement.pairs >= FEWEST for _, verdict in undecided)
    return _TELLS if is_known else ""


def _longer(suite: Suite, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """Return greater values for the parameters that the time of a suite's tests grows with."""
    return {
        name: min(_LONGER * value, suite.parameters[name].most or value)
        for name, value in parameters.items()
        if not isinstance(value, str) and any(name in test.per for test in suite.tests)
    }


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


def advice_on_run(run: MeasuredRun) -> str:
    """Return what to measure for the verdicts on metrics that decide; '' if none is missing.

    A search has an end of its own, an instance or an imported figure has no pairs, and the changes
    of slowed versions are known.
    """
    plan, request = run.plan, run.plan.request
    ended = plan.imported or request.bisect or request.slowed
    told = [] if ended else list(_deciding_verdicts(run))
    metrics = [(name, verdict) for _, name, verdict in told]
    unconfirmed = [(pair, name) for pair, name, verdict in told if is_unconfirmed(verdict)]
    if not unconfirmed and not any(is_open(verdict) for _, verdict in metrics):
        return ""
    if _has_missing_trials(run, metrics):
        return f"Measure the missing trials: tidemark run --resume {plan.run_id}"
    if unconfirmed:
        changed: defaultdict[str, list[str]] = defaultdict(list)
        for base, version in dict.fromkeys(pair for pair, _ in unconfirmed):
            changed[requested(plan, base)].append(requested(plan, version))
        names = list(dict.fromkeys(name for _, name in unconfirmed))
        return confirming(plan.suite, request, changed, names)
    versions = [requested(plan, version) for version in request.versions]
    baseline = requested(plan, request.baseline) if request.baseline else ""
    return again("again", plan.suite, request, versions, metrics, baseline=baseline)


def _deciding_verdicts(run: MeasuredRun) -> Iterator[tuple[tuple[str, str], str, Verdict]]:
    """Yield each verdict that decides, with its base and version and the name of its metric."""
    for quantity in run.quantities:
        rated = [rate.version for rate in run.rates_of(quantity) if rate.value is not None]
        for base, version in _compared(run, rated) if quantity.metric.decides else ():
            yield (base, version), quantity.name, run.verdict(base, version, quantity)


def _compared(run: MeasuredRun, rated: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each version that has a rate, behind its base."""
    for version, base in run.plan.bases.items():
        if {base, version} <= {*rated}:
            yield base, version


def _has_missing_trials(run: MeasuredRun, metrics: list[tuple[str, Verdict]]) -> bool:
    """Tell whether the run was to measure more; one until decided, for an open verdict.

    A run whose time is over measures nothing more.
    """
    request = run.plan.request
    if request.until:
        return not request.within_seconds and any(verdict.more_pairs for _, verdict in metrics)
    return bool(run.unrecorded())
