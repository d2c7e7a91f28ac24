"""The ending of runs, which EndRun and SweepRuns share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lambdas import services, storage
from lambdas.environment import Environment
from lambdas.listeners import listeners
from tidemark.run.dead_runs import Ending
from tidemark.store.bucket import Bucket

if TYPE_CHECKING:
    from tidemark.store.stored_run import StoredRun


def ending() -> Ending:
    """Return the ending of runs with the adapters and the environment of this function."""
    return Ending(
        storage.bucket(),
        services.executions(),
        services.tasks(),
        services.rules(),
        listeners(),
        Environment().trial_state_machine,
        _publish,
    )


def _publish(bucket: Bucket, run_id: str) -> StoredRun:
    # Most ends have no figures to write, and these imports would delay each of them.
    from tidemark.report.page import packed_vega  # noqa: PLC0415
    from tidemark.report.run_report.publishing import write_report  # noqa: PLC0415
    from tidemark.run.record_rates import write_rates  # noqa: PLC0415
    from tidemark.store.stored_run import fold  # noqa: PLC0415

    def write(run: StoredRun) -> StoredRun:
        write_rates(bucket, run)
        write_report(bucket, run, packed_vega)
        return run

    return fold(bucket, run_id, write)
