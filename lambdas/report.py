"""The report of one run as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from lambdas.results import TrialResult
from lambdas.summary import VersionRate
from suites.plan import Plan


def markdown(plan: Plan, rates: Sequence[VersionRate], trials: Sequence[TrialResult]) -> str:
    """Return the report: what was measured on what, the rates, and what did not succeed."""
    request = plan.request
    lines = [
        f"# {plan.suite.title}: run {plan.run_id}",
        "",
        f"{len(request.versions)} versions, {request.repetitions} repetitions, "
        f"{request.tasks} tasks of {request.records:,} records each; seed {plan.seed}.",
        *([f"Note: {_escaped(request.note)}"] if request.note else []),
        *[f"Machine: {_escaped(machine)}" for machine in _machines(trials)],
        "",
        "| Version | Metric | Rate | Spread | Samples | Trials | Δ to the version before |",
        "|---|---|--:|--:|--:|--:|--:|",
        *[_row(rate) for rate in rates],
    ]
    troubles = [trial for trial in trials if trial.status != "ok"]
    if troubles:
        lines += ["", "## What did not succeed", ""]
        lines += [
            f"- trial {trial.trial} ({trial.version}): {trial.status}: {_escaped(trial.reason)}"
            for trial in troubles
        ]
    return "\n".join(lines) + "\n"


def _row(rate: VersionRate) -> str:
    value = "missing" if rate.value is None else f"{rate.value:,.1f} {rate.unit}"
    spread = "" if rate.spread is None else f"± {rate.spread:,.1f}"
    change = "" if rate.change is None else f"{rate.change:+.2%}"
    trials = f"{rate.trials} of {rate.planned}"
    cells = [rate.version, rate.metric, value, spread, str(rate.samples), trials, change]
    return f"| {' | '.join(cells)} |"


def _machines(trials: Sequence[TrialResult]) -> list[str]:
    seen = {
        f"{environment.get('cpu_model')}, {environment.get('arch')}"
        for trial in trials
        for test in trial.tests
        for environment in test.environments
    }
    return sorted(seen)


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
