"""Writer of the comparison of two sides that a user names."""

from __future__ import annotations

from tidemark.report.comparison.choice import choose_sides
from tidemark.report.comparison.forms import write_comparison
from tidemark.report.text_files import Vega
from tidemark.store.bucket import Bucket
from tidemark.store.stored_run import read_run


def publish_comparison(
    bucket: Bucket, suite: str, base: str, new: str, vega: Vega
) -> dict[str, str]:
    """Write the comparison of two named sides; return the key of each form.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    (base_plan, base_version), (plan, version) = choose_sides(bucket, suite, base, new)
    run = read_run(bucket, plan)
    base_run = run if base_plan.run_id == plan.run_id else read_run(bucket, base_plan)
    return write_comparison(bucket, (base_run, base_version), (run, version), vega)
