"""The rows of ``version_rates`` and ``verdicts``: a run's figures by version, worked out once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from tidemark.figures.task_logs import unlike
from tidemark.figures.verdicts.rule import SHOWN, Judgement
from tidemark.figures.verdicts.version_verdicts import Verdict, verdicts, version_pairs
from tidemark.figures.version_rates import VersionRate, counting, summarise
from tidemark.model.labels import figure_title
from tidemark.model.parameters import Combination
from tidemark.model.run_spec import RunSpec
from tidemark.money.run_cost import run_cost, task_seconds
from tidemark.store.columns import SCHEMA, timestamp
from tidemark.store.rows import Row
from tidemark.store.stored_run import StoredRun

Judged = Mapping[tuple[str, str], Collection[Verdict]]
"""The verdicts on the quantities of some pairs of a base and a version."""
_JUDGEMENT = ("effect", "low", "high", "reason")


def judged_against_bases(run: StoredRun) -> Judged:
    """Return the verdicts on each version against its base."""
    pairs = ((base, version) for version, base in run.plan.bases.items())
    return {pair: list(verdicts(run, *pair)) for pair in pairs}


def version_rate_rows(run: StoredRun, judged: Judged) -> Iterator[Row]:
    """Yield the rows of ``version_rates``: one for each quantity and version of a run."""
    told = {
        (version, each.quantity.key): each.judgement
        for (_, version), of_pair in judged.items()
        for each in of_pair
    }
    of_run = {
        "sizes": _sizes(run.plan.request),
        "provenance": "imported" if run.plan.imported else "measured",
        "schema": SCHEMA,
    }
    # The canary, too, which is compared with no version.
    measured = run.plan.request.measured_versions
    orders = {version: run.plan.version_order(version) for version in measured}
    for rate in summarise(run.plan, run.trials, run.exclusions, measured):
        row = {
            "run_id": run.plan.run_id,
            **_rate_columns(rate),
            "version_order": orders[rate.version],
            **_judgement_columns(told.get((rate.version, rate.key))),
            **of_run,
        }
        yield _readable(row)


def _readable(row: Row) -> Row:
    """Return a row with null for each number that overflowed: JSON has no infinity."""
    overflowed = [
        name for name, value in row.items() if isinstance(value, float) and not math.isfinite(value)
    ]
    return {**row, **dict.fromkeys(overflowed)}


def _rate_columns(rate: VersionRate) -> Row:
    return {
        "test": rate.test,
        "metric": rate.metric,
        "statistic": rate.statistic,
        "labels": rate.labels,
        "unit": rate.unit,
        "direction": rate.direction,
        "title": figure_title(rate.test, rate.metric, rate.statistic, rate.labels, rate.unit),
        "version": rate.version,
        "trials": rate.trials,
        "planned": rate.planned,
        "samples": rate.samples,
        "mean": rate.value,
        "stddev": rate.spread,
        "min": rate.least,
        "max": rate.most,
        "mean_logarithm": rate.mean_logarithm,
        "first_at": timestamp(rate.first_at) if rate.first_at else None,
        "last_at": timestamp(rate.last_at) if rate.last_at else None,
        "image_digest": rate.image_digest,
        "value_text": rate.value_text,
        "base": rate.base,
        "change": rate.change,
    }


def _judgement_columns(judgement: Judgement | None) -> Row:
    return {
        "verdict": judgement.word if judgement else None,
        **{name: getattr(judgement, name, None) for name in _JUDGEMENT},
    }


def _sizes(request: RunSpec) -> str:
    """Return tasks and the records of each, 2 × 1,000,000, or else the parameters."""
    if request.other_parameters:
        return request.other_parameters
    tasks, records = (request.parameters.get(name) for name in ("tasks", "records"))
    return "unknown" if records is None else f"{tasks:,} × {records:,}"


def verdict_rows(run: StoredRun, judged: Judged | None = None) -> Iterator[Row]:
    """Yield the rows of ``verdicts``: one for each quantity of each pair of versions.

    ``judged`` are the verdicts that are known already.
    """
    known = judged or {}
    for base, version in version_pairs(run.plan):
        of_pair = known.get((base, version)) or verdicts(run, base, version)
        yield from _pair_rows(run, base, version, of_pair)


def _pair_rows(run: StoredRun, base: str, version: str, judged: Iterable[Verdict]) -> Iterator[Row]:
    of_both = {"unlike_machines": _on_unlike_machines(run, base, version), "schema": SCHEMA}
    for axes, under in groupby(judged, key=lambda verdict: verdict.quantity.axes):
        spent = _spent(run, [base, version], axes)
        for verdict in under:
            row = {"run_id": run.plan.run_id, **_columns(verdict), **spent, **of_both}
            yield _readable(row)


def _on_unlike_machines(run: StoredRun, base: str, version: str) -> bool:
    trials = counting(run.trials, run.exclusions)
    both = ([each for each in trials if each.version == name] for name in (base, version))
    return unlike(*both)


def _spent(run: StoredRun, versions: Collection[str], axes: Combination) -> dict[str, Any]:
    trials = [each for each in run.trials if each.version in versions and each.axes == axes]
    cost = run_cost(run.plan, trials)
    return {"machine_seconds": task_seconds(trials), "cost_usd": cost.total if cost else None}


def _columns(verdict: Verdict) -> Row:
    judgement, quantity = verdict.judgement, verdict.quantity
    return {
        "test": quantity.test,
        "metric": quantity.metric.name,
        "statistic": quantity.statistic,
        "labels": quantity.labels,
        "version": verdict.version,
        "baseline": verdict.base,
        "verdict": judgement.word,
        "stage": verdict.stage,
        "method": judgement.method,
        "reason": judgement.reason,
        "effect": judgement.effect,
        "low": judgement.low,
        "high": judgement.high,
        "confidence": 1 - SHOWN,
        "threshold": verdict.margins.alarm,
        "family": verdict.family,
        "detectable": verdict.detectable,
        "pairs": judgement.pairs,
        "more_pairs": verdict.more_pairs,
        "trials_base": verdict.trials_base,
        "trials_new": verdict.trials_new,
        "change": verdict.change,
        "outliers": ", ".join(map(str, verdict.outliers)),
        "odd": verdict.odd,
        "steadiness": verdict.spread.word if verdict.spread else None,
    }
