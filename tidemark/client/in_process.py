"""A publisher that works in this process, without functions."""

from __future__ import annotations

from tidemark.store.bucket import Bucket


class InProcessPublisher:
    """A publisher that runs the code of the functions."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    # The imports are inner, because a reading command needs neither reports nor statistics.

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""
        from tidemark.run.record_rates import record_rates  # noqa: PLC0415

        record_rates(self._bucket, run_id)

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""
        from tidemark.pages.vega import vega  # noqa: PLC0415
        from tidemark.report.run_report.publishing import publish_report  # noqa: PLC0415

        publish_report(self._bucket, run_id, vega)

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the key of each form."""
        from tidemark.pages.vega import vega  # noqa: PLC0415
        from tidemark.report.comparison.publishing import publish_comparison  # noqa: PLC0415

        return publish_comparison(self._bucket, suite, base, new, vega)

    def refresh(self) -> None:
        """Do nothing, because QuickSight needs an account."""
