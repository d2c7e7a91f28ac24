"""The advice of a run's report: what to measure for the verdicts that its trials cannot tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.report.advice import again, confirming, is_open, is_unconfirmed, requested
from tidemark.report.run_report.measured import MeasuredRun


def advice(run: MeasuredRun) -> str:
    """Return what to measure for the verdicts on metrics that decide; '' if none is missing.

    A search has an end of its own, and an instance or an imported figure no pairs.
    """
    plan, request = run.plan, run.plan.request
    told = [] if plan.imported or request.bisect else list(_verdicts(run))
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


def _verdicts(run: MeasuredRun) -> Iterator[tuple[tuple[str, str], str, Verdict]]:
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
    """Tell whether the run was to measure more; one until decided, for an open verdict."""
    if run.plan.request.until:
        return any(verdict.more_pairs for _, verdict in metrics)
    return bool(run.unrecorded())
