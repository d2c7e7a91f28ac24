"""The rows of the table ``verdicts``: one for each quantity of two versions of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from tidemark.figures.machines import unlike
from tidemark.figures.summary import counting
from tidemark.figures.verdicts.rule import SHOWN
from tidemark.figures.verdicts.version_verdicts import Verdict, verdicts, version_pairs
from tidemark.model.axes import Combination
from tidemark.money.run_cost import run_cost, task_seconds
from tidemark.store.columns import SCHEMA
from tidemark.store.stored_run import StoredRun


def verdict_rows(run: StoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run."""
    for base, version in version_pairs(run.plan):
        judged = run_verdicts(run, base, version)
        of_both = {"unlike_machines": _on_unlike_machines(run, base, version), "schema": SCHEMA}
        for axes, under in groupby(judged, key=lambda verdict: verdict.quantity.axes):
            spent = _spent(run, [base, version], axes)
            for verdict in under:
                yield {"run_id": run.plan.run_id, **_columns(verdict), **spent, **of_both}


def _on_unlike_machines(run: StoredRun, base: str, version: str) -> bool:
    trials = counting(run.trials, run.exclusions)
    both = ([each for each in trials if each.version == name] for name in (base, version))
    return unlike(*both)


def _spent(run: StoredRun, versions: Collection[str], axes: Combination) -> dict[str, Any]:
    trials = [each for each in run.trials if each.version in versions and each.axes == axes]
    cost = run_cost(run.plan, trials)
    return {"machine_seconds": task_seconds(trials), "cost_usd": cost.total if cost else None}


def run_verdicts(run: StoredRun, base: str, version: str) -> Iterator[Verdict]:
    """Yield the verdicts on two versions of a stored run."""
    resumed = bool(run.resumes)
    return verdicts(run.plan, run.trials, run.exclusions, base, version, resumed=resumed)


def _columns(verdict: Verdict) -> dict[str, Any]:
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
    }
