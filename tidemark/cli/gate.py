"""The gate of ``tidemark run --fail-on slower``: the verdicts of the run as an exit code."""

from __future__ import annotations

from rich.console import Console

from tidemark.client.stored import Stored
from tidemark.model.plan import Plan
from tidemark.report.comparison.document import ComparisonDocument, exit_code, sentence


def gate(stored: Stored, plan: Plan, console: Console) -> int:
    """Print each metric's verdict and return the exit code.

    The versions are compared with the baseline, or else each with the version before it.
    """
    documents = [compared(stored, plan, base, new) for new, base in plan.bases.items()]
    for document in documents:
        for metric in document.metrics:
            console.print(f"{sentence(metric, document)}.", markup=False, soft_wrap=True)
    if not any(metric.decides for document in documents for metric in document.metrics):
        console.print("No metric of the suite decides; give one `decides: true`.")
    return exit_code(documents)


def compared(stored: Stored, plan: Plan, base: str, version: str) -> ComparisonDocument:
    """Return the comparison of two versions of a run."""
    sides = [f"{plan.run_id}/{each}" for each in (base, version)]
    keys = stored.publisher.comparison(plan.suite.name, *sides)
    return ComparisonDocument.model_validate_json(stored.bucket.read(keys["json"]))
