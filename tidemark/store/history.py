"""The history of a suite: the medians of its runs, and the table of their changes of level."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal, NamedTuple, cast

from tidemark.figures.history.change_points import ChangePoint, Windows
from tidemark.figures.history.changes import Change, Place, Said, judged
from tidemark.figures.history.run_medians import Median, RunMedians, Series, run_medians
from tidemark.figures.history.untold import Untold
from tidemark.model.labels import figure_title
from tidemark.model.outcome import Acknowledgement, LevelAlarm
from tidemark.model.run_id import moment
from tidemark.store import keys
from tidemark.store.bucket import Bucket, Tagged
from tidemark.store.columns import SCHEMA, timestamp
from tidemark.store.rows import keep_latest, packed
from tidemark.store.run_ends import read_alarms, write_alarms
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import StoredRun, read_run

MOST_RUNS = 400
"""The runs of a history; older runs say nothing of today's level."""
_MOST_WINDOWS = 20_000
"""The searched windows that are kept, four for each of 5,000 figures."""

MOST_TOLD = 200
"""The alarms of one message, which may have 256 KiB; the next run reports the others."""


class History(NamedTuple):
    """The medians of a suite's runs, in order: ``history/<suite>/runs.json``."""

    runs: tuple[RunMedians, ...] = ()

    @classmethod
    def read(cls, body: bytes) -> History:
        """Return a stored history. Its figures are many, and a model of each would be slow."""
        stored = json.loads(body)
        if "series" not in stored:  # Tidemark 0.2.0 wrote the series of each figure
            return cls(tuple(map(RunMedians.model_validate, stored["runs"])))
        series = [(Series(*names), margin) for *names, margin in stored["series"]]
        return cls(tuple(_run(each, series) for each in stored["runs"]))

    def packed(self) -> bytes:
        """Return the history as it is stored: each series once, and the figures by its place."""
        places: dict[tuple[Series, float], int] = {}
        runs = [
            {
                **run.model_dump(mode="json", exclude={"medians"}),
                "medians": [
                    [places.setdefault((each.series, each.margin), len(places)), *each[2:]]
                    for each in run.medians
                ],
            }
            for run in self.runs
        ]
        series = [[*of_one, margin] for of_one, margin in places]
        return json.dumps({"series": series, "runs": runs}, separators=(",", ":")).encode()

    def with_runs(self, runs: Sequence[RunMedians]) -> History:
        """Return the history with some runs, in place of what it had of them."""
        by_id = {each.run_id: each for each in (*self.runs, *runs)}
        return History(tuple(by_id[name] for name in sorted(by_id)[-MOST_RUNS:]))


def _run(stored: dict[str, Any], series: Sequence[tuple[Series, float]]) -> RunMedians:
    medians = []
    for place, value, canary, quartiles in stored["medians"]:
        names, margin = series[place]
        medians.append(Median(names, margin, value, canary, quartiles and tuple(quartiles)))
    return RunMedians.model_validate({**stored, "medians": ()}).model_copy(
        update={"medians": tuple(medians)}
    )


def record_history(bucket: Bucket, run: StoredRun) -> None:
    """Write the medians of a run into its suite's history, and the changes of level again."""
    _record(bucket, run.plan.suite.name, [run_medians(run.plan, run.trials, run.exclusions)])


def is_suspected(bucket: Bucket, run: RunMedians, suite: str) -> bool:
    """Tell whether a run that is not in its suite's history yet is suspected of a new level."""
    runs = _history(bucket.find(keys.history(suite))).with_runs([run]).runs
    found = judged(runs, known=_read_windows(bucket, suite)).changes
    return any(each.state == "suspected" and each.run.run_id == run.run_id for each in found)


def record_imports(bucket: Bucket, run_ids: Iterable[str]) -> None:
    """Write the medians of imports into the histories of their suites, and the index of versions.

    Each history is judged once.
    """
    medians: defaultdict[str, list[RunMedians]] = defaultdict(list)
    for run_id in run_ids:
        run = read_run(bucket, read_plan(bucket, run_id))
        suite = run.plan.suite.name
        medians[suite].append(run_medians(run.plan, run.trials, run.exclusions))
        for version in run.plan.request.versions:
            bucket.write(keys.run_of_version(suite, version, run_id), b"")
    for suite, of_suite in medians.items():
        _record(bucket, suite, of_suite)


def _record(bucket: Bucket, suite: str, medians: Sequence[RunMedians]) -> None:
    while True:
        tagged = bucket.find(keys.history(suite))
        history = _history(tagged).with_runs(medians)
        body = history.packed()
        if bucket.write_over(keys.history(suite), body, tagged.etag if tagged else None):
            break
    while not _write_changes(bucket, suite, body, history):
        pass


def _write_changes(bucket: Bucket, suite: str, body: bytes, history: History) -> bool:
    """Write a suite's changes and alarms; tell whether its history is still the same.

    The history of ``body`` is known, which saves the time to read it again.
    """
    stored = bucket.find(keys.history(suite))
    runs = (history if stored and stored.body == body else _history(stored)).runs
    newest, alarms = runs[-1].run_id, read_alarms(bucket, suite)
    earlier = [alarm for alarm in alarms if alarm.told_by < newest]
    told = {Place(each.test, each.name, each.run_id): moment(each.told_by) for each in earlier}
    known = _read_windows(bucket, suite)
    before = len(known)
    found, silent = judged(runs, Said(dict(_acknowledged(bucket, suite)), told), known)
    # Every run counts or has its reason, so that no history is without a row.
    if len(runs) == MOST_RUNS:
        silent.append(Untold(None, f"The changes of level are of the last {MOST_RUNS} runs."))
    rows = []
    for row in (*map(changed_row, found), *map(_untold_row, silent)):
        names = {name: row[name] for name in Series._fields}
        title = figure_title(*Series(**names)[:5]) if row["test"] else None
        rows.append({**names, "title": title, "run_id": newest, **row})
    keep_latest(bucket, "changes", suite, newest, packed(rows))
    # The message of a run that has ended is sent: the next run reports the news.
    if bucket.find(keys.outcome(newest)) is None:
        news = [_alarm(change, newest) for change in found if change.alarms]
        write_alarms(bucket, suite, [*earlier, *news[:MOST_TOLD]])
    if len(known) > before:
        _write_windows(bucket, suite, known)
    return bucket.find(keys.history(suite)) == stored


def _history(stored: Tagged | None) -> History:
    return History.read(stored.body) if stored else History()


def _read_windows(bucket: Bucket, suite: str) -> dict[str, list[ChangePoint]]:
    stored = bucket.find(keys.history_windows(suite))
    found: dict[str, list[list[Any]]] = json.loads(stored.body) if stored else {}
    if len(found) > _MOST_WINDOWS:
        return {}
    return {name: [ChangePoint(*each) for each in points] for name, points in found.items()}


def _write_windows(bucket: Bucket, suite: str, known: Windows) -> None:
    """Keep the searched windows, which save the time of the next search and nothing else."""
    body = {name: [list(vars(each).values()) for each in points] for name, points in known.items()}
    bucket.write(keys.history_windows(suite), json.dumps(body, separators=(",", ":")).encode())


def acknowledge(
    bucket: Bucket, suite: str, change: tuple[str, str, str], reason: str, until: date
) -> None:
    """Accept the level of a metric since its change: the run, the test and the metric."""
    decision = Acknowledgement(reason=reason, until=until, at=datetime.now(UTC))
    key = keys.acknowledgement(suite, *change)
    bucket.write(key, decision.model_dump_json().encode())


def _acknowledged(bucket: Bucket, suite: str) -> Iterator[tuple[Place, Acknowledgement]]:
    prefix = keys.acknowledgements(suite)
    for key in bucket.keys(prefix):
        run_id, test, metric = key.removeprefix(prefix).removesuffix(".json").split("/")
        decision = Acknowledgement.model_validate_json(bucket.read(key))
        yield Place(test, metric, run_id), decision


def _alarm(change: Change, newest: str) -> LevelAlarm:
    return LevelAlarm(
        **change.place._asdict(),
        name=change.series.name,
        version=change.versions[1],
        version_before=change.versions[0],
        # No change of spread alarms, and the model refuses its words.
        verdict=cast(Literal["slower", "faster"], change.word),
        change=change.change,
        told_by=newest,
    )


def changed_row(change: Change) -> dict[str, Any]:
    """Return the row of the table ``changes`` for a change of level."""
    decision, series = change.acknowledgement, change.series
    return {
        **series._asdict(),
        "changed_run": change.run.run_id,
        "changed_at": timestamp(change.run.started_at),
        "version": change.versions[1],
        "version_before": change.versions[0],
        "level_before": change.before,
        "level_after": change.after,
        "change": change.change,
        "verdict": change.word,
        "cause": change.cause,
        "accepted_level": change.accepted,
        "acknowledged_until": decision.until.isoformat() if decision else None,
        "acknowledged_reason": decision.reason if decision else None,
        "untold": None,
        "schema": SCHEMA,
        "state": change.state,
        "is_open": change.is_open,
        "last_run": change.last and change.last.run_id,
        "last_version": change.last and change.last.version,
        "mended_run": change.mended and change.mended.run_id,
        "mended_version": change.mended and change.mended.version,
        "each": change.each,
        "family": change.family,
    }


def _untold_row(untold: Untold) -> dict[str, Any]:
    series = untold.series._asdict() if untold.series else dict.fromkeys(Series._fields)
    return {**series, "untold": untold.sentence, "schema": SCHEMA}
