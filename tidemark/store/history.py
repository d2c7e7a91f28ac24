"""The history of a suite: the medians of its runs, and the table of their changes of level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tidemark.figures.history.changes import Change, Place, Said, changes
from tidemark.figures.history.run_medians import RunMedians, run_medians
from tidemark.model.acknowledgement import Acknowledgement
from tidemark.model.frozen import Frozen
from tidemark.store import keys
from tidemark.store.bucket import Bucket, Tagged
from tidemark.store.columns import SCHEMA, timestamp
from tidemark.store.latest import keep_latest
from tidemark.store.rows import packed
from tidemark.store.stored_run import StoredRun

MOST_RUNS = 400
"""The runs of a history; older ones say nothing of today's level."""


class History(Frozen):
    """The medians of a suite's runs, in order: ``history/<suite>/runs.json``."""

    runs: tuple[RunMedians, ...] = ()

    def with_run(self, run: RunMedians) -> History:
        """Return the history with a run, in place of what it had of that run."""
        by_id = {each.run_id: each for each in (*self.runs, run)}
        return History(runs=tuple(by_id[name] for name in sorted(by_id)[-MOST_RUNS:]))


def record_history(bucket: Bucket, run: StoredRun) -> None:
    """Write the medians of a run into its suite's history, and the changes of level again."""
    suite = run.plan.suite.name
    medians = run_medians(run.plan, run.trials, run.exclusions)
    while True:
        tagged = bucket.find(keys.history(suite))
        body = _history(tagged).with_run(medians).model_dump_json().encode()
        if bucket.write_over(keys.history(suite), body, tagged.etag if tagged else None):
            break
    write_changes(bucket, suite)


def write_changes(bucket: Bucket, suite: str) -> None:
    """Write a suite's rows of ``changes``; repeat if its history changes meanwhile."""
    while True:
        stored = bucket.find(keys.history(suite))
        runs = _history(stored).runs
        if not runs:
            return
        found = changes(runs, Said(dict(_acknowledged(bucket, suite)), {}))
        rows = packed(_row(runs, change) for change in found)
        keep_latest(bucket, "changes", suite, runs[-1].run_id, rows)
        if bucket.find(keys.history(suite)) == stored:
            return


def _history(stored: Tagged | None) -> History:
    return History.model_validate_json(stored.body) if stored else History()


def _acknowledged(bucket: Bucket, suite: str) -> Iterator[tuple[Place, Acknowledgement]]:
    prefix = keys.acknowledgements(suite)
    for key in bucket.keys(prefix):
        run_id, test, metric = key.removeprefix(prefix).removesuffix(".json").split("/")
        decision = Acknowledgement.model_validate_json(bucket.read(key))
        yield Place(test, metric, run_id), decision


def _row(runs: Sequence[RunMedians], change: Change) -> dict[str, Any]:
    decision = change.acknowledgement
    return {
        **change.series._asdict(),
        "run_id": runs[-1].run_id,
        "changed_run": change.run.run_id,
        "changed_at": timestamp(change.run.started_at),
        "version": change.run.version,
        "version_before": change.version_before,
        "level_before": change.before,
        "level_after": change.after,
        "change": change.change,
        "verdict": change.word,
        "cause": change.cause,
        "accepted_level": change.accepted,
        "acknowledged_until": decision.until.isoformat() if decision else None,
        "acknowledged_reason": decision.reason if decision else None,
        "schema": SCHEMA,
    }
