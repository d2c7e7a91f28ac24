"""A publisher that works in this process, without functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from tidemark.store.bucket import Bucket

_MOST_REPORTS = 20
_AT_ONCE = 50
"""The imports whose rows are one transaction."""


class InProcessPublisher:
    """A publisher that runs the code of the functions.

    ``together`` makes one transaction of many writes, which saves their wait for the disk.
    """

    def __init__(
        self, bucket: Bucket, together: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._bucket, self._together = bucket, together

    # The imports are inner, because a reading command needs neither reports nor statistics.

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""
        from tidemark.run.record_rates import record_rates  # noqa: PLC0415

        record_rates(self._bucket, run_id)

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""
        from tidemark.report.run_report.publishing import publish_report  # noqa: PLC0415

        publish_report(self._bucket, run_id)

    def imported(self, run_ids: Sequence[str]) -> None:
        """Write what follows from new imports; their rates come last and complete them.

        Many imports get no reports, which take most of the time: `tidemark report` writes any.
        """
        from tidemark.report.run_report.publishing import publish_report  # noqa: PLC0415
        from tidemark.store.history import record_imports  # noqa: PLC0415

        with self._together():
            record_imports(self._bucket, run_ids)
        if len(run_ids) <= _MOST_REPORTS:
            for run_id in run_ids:
                publish_report(self._bucket, run_id, into_history=False)
        for start in range(0, len(run_ids), _AT_ONCE):
            with self._together():
                for run_id in run_ids[start : start + _AT_ONCE]:
                    self.rates(run_id)

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the key of each form."""
        from tidemark.report.comparison.publishing import publish_comparison  # noqa: PLC0415

        return publish_comparison(self._bucket, suite, base, new)

    def refresh(self) -> None:
        """Do nothing, because QuickSight needs an account."""
