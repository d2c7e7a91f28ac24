"""The stored history of a suite and its table of changes."""

import gzip
import json

import pytest
from pydantic import ValidationError

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.figures.history.test_changes import STEP, run_id, runs_of, stepped
from tests.unit.measured_runs import ingest_of, left_out, planned
from tidemark.figures.history.changes import judged
from tidemark.figures.history.run_medians import run_medians
from tidemark.model.outcome import Acknowledgement
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.store import history, keys
from tidemark.store.columns import TABLES
from tidemark.store.history import History, is_suspected, record_history
from tidemark.store.run_ends import alarms_of
from tidemark.store.stored_run import StoredRun

BEFORE = 90.0


def stored(runs):
    """Return a bucket with the history of these runs."""
    body = History(runs=tuple(runs)).packed()
    return FakeBucket({keys.history("rocksdb"): body})


def run(value=BEFORE, exclusions=NO_EXCLUSIONS):
    """Return the newest run, with this rate of ingest."""
    plan = planned(["9.8.4"], repetitions=1, records=1000, name=RUN)
    plan = plan.model_copy(update={"tidemark_version": None})
    return StoredRun(plan, ingest_of(plan, {"9.8.4": [value]}), exclusions, [])


def all_rows(bucket):
    (key,) = bucket.keys(keys.tables("changes", "rocksdb"))
    assert key == keys.table("changes", "rocksdb", RUN)
    return [json.loads(line) for line in gzip.decompress(bucket.objects[key]).splitlines()]


def rows(bucket):
    """Return the rows of changes of level."""
    return [row for row in all_rows(bucket) if "changed_run" in row]


def untold(bucket):
    return [(row["metric"], row["untold"]) for row in all_rows(bucket) if row.get("untold")]


def medians(bucket):
    return History.read(bucket.objects[keys.history("rocksdb")]).runs


def test_the_changes_are_those_up_to_the_newest_run():
    bucket = stored(runs_of(stepped(after=10)))

    record_history(bucket, run())

    (row,) = rows(bucket)
    assert row.keys() == TABLES["changes"].keys()
    assert (row["metric"], row["verdict"], row["cause"]) == ("ingest_rate", "slower", "version")
    assert (row["changed_run"], row["changed_at"][:10]) == (run_id(STEP), "2026-08-03")
    assert (row["version"], row["version_before"]) == ("9.8.4", "9.0.0")
    assert row["change"] == pytest.approx(-0.1, abs=0.01)
    assert row["accepted_level"] == row["level_before"]


def test_the_title_of_a_change_is_the_same_whatever_else_the_newest_run_measured():
    bucket, newest = stored(runs_of(stepped(after=10))), run()
    test, *others = newest.plan.suite.tests
    metrics = (*test.metrics, test.metrics[0].model_copy(update={"name": "rate"}))
    tests = (test.model_copy(update={"metrics": metrics}), *others)
    suite = newest.plan.suite.model_copy(update={"tests": tests})

    record_history(bucket, newest._replace(plan=newest.plan.model_copy(update={"suite": suite})))

    (row,) = rows(bucket)
    assert row["title"] == "ingest rate (records/s)"


def test_an_acknowledged_change_has_its_reason_and_its_last_day():
    bucket = stored(runs_of(stepped(after=10)))
    decision = Acknowledgement(reason="safer", until="2027-01-31", at="2026-11-20T12:00:00Z")
    key = keys.acknowledgement("rocksdb", run_id(STEP), "ingest", "ingest_rate")
    bucket.write(key, decision.model_dump_json().encode())

    record_history(bucket, run())

    (row,) = rows(bucket)
    assert (row["acknowledged_until"], row["acknowledged_reason"]) == ("2027-01-31", "safer")
    assert row["accepted_level"] == row["level_after"]


def test_a_run_has_one_place_in_the_history_however_often_it_is_recorded():
    bucket = FakeBucket()
    record_history(bucket, run(1.0))

    record_history(bucket, run(2.0))
    record_history(bucket, run(2.0))

    (only,) = medians(bucket)
    assert (only.run_id, only.version, only.medians[0].value) == (RUN, "9.8.4", 2.0)
    assert rows(bucket) == []


def test_what_the_history_does_not_tell_is_a_row_each():
    bucket = stored(runs_of([1.0, 2.0, 3.0], version=lambda _: "10.0.0"))

    record_history(bucket, run())

    assert untold(bucket) == [
        (
            None,
            "The changes of level leave out 1 of 4 runs, because an earlier run measured a newer "
            "version: 9.8.4.",
        ),
        (
            "ingest_rate",
            "cannot tell yet: 3 of about 6 runs.",
        ),
    ]


def test_an_excluded_run_leaves_no_point():
    bucket = FakeBucket()

    record_history(bucket, run(exclusions=left_out(1, "noisy")))

    assert [each.medians for each in medians(bucket)] == [()]
    assert untold(bucket) == [
        (
            None,
            "The changes of level leave out 1 of 1 run, because no trial of their newest version "
            "counts: 9.8.4.",
        )
    ]


def test_only_the_newest_runs_are_kept(monkeypatch):
    monkeypatch.setattr(history, "MOST_RUNS", 3)
    bucket = stored(runs_of([1.0, 2.0, 3.0]))

    record_history(bucket, run())

    assert [each.run_id for each in medians(bucket)] == [run_id(1), run_id(2), RUN]
    assert (None, "The changes of level are of the last 3 runs.") in untold(bucket)


def test_two_runs_that_are_recorded_at_once_are_both_kept():
    bucket = stored(runs_of([1.0]))
    other = History(runs=tuple(runs_of([1.0, 2.0]))).packed()
    meanwhile = iter([{}, {keys.history("rocksdb"): other}])
    bucket.moment = lambda: bucket.objects.update(next(meanwhile, {}))

    record_history(bucket, run())

    assert [each.run_id for each in medians(bucket)] == [run_id(0), run_id(1), RUN]


def alarms(bucket, run_id=RUN):
    return [(alarm.metric, alarm.run_id) for alarm in alarms_of(bucket, "rocksdb", run_id)]


def test_a_change_is_told_by_one_run_however_often_that_run_is_recorded():
    bucket = stored(runs_of(stepped(after=10)))
    record_history(bucket, run())
    record_history(bucket, run())
    assert alarms(bucket) == [("ingest_rate", run_id(STEP))]

    next_week = "20261127T124455Z-abcdef"
    later = run()
    plan = later.plan.model_copy(update={"run_id": next_week})
    record_history(bucket, later._replace(plan=plan))

    assert alarms(bucket, next_week) == []
    assert alarms(bucket) == [("ingest_rate", run_id(STEP))]


def test_a_message_of_a_change_that_is_neither_slower_nor_faster_is_refused(monkeypatch):
    def mistaken(*given, **more):
        found = judged(*given, **more)
        return found._replace(changes=[each._replace(word="steadier") for each in found.changes])

    monkeypatch.setattr(history, "judged", mistaken)

    with pytest.raises(ValidationError, match="'slower' or 'faster'"):
        record_history(stored(runs_of(stepped(after=10))), run())


def test_a_run_whose_exclusion_takes_a_change_back_does_not_tell_it():
    own = run_medians(run().plan, run().trials, NO_EXCLUSIONS)
    alike = {"parameters": own.parameters, "environment": own.environment}
    bucket = stored(each.model_copy(update=alike) for each in runs_of(stepped(after=2)))
    record_history(bucket, run())
    assert alarms(bucket) == [("ingest_rate", run_id(STEP))]

    record_history(bucket, run(exclusions=left_out(1, "noisy")))

    assert alarms(bucket) == []


def test_a_change_that_appears_after_the_message_is_told_by_the_next_run():
    bucket = stored(runs_of(stepped(after=10)))
    bucket.write(keys.outcome(RUN), b"{}")

    record_history(bucket, run())

    assert alarms(bucket) == []
    assert len(rows(bucket)) == 1


def test_a_message_has_no_more_alarms_than_fit(monkeypatch):
    monkeypatch.setattr(history, "MOST_TOLD", 0)
    bucket = stored(runs_of(stepped(after=10)))

    record_history(bucket, run())

    assert alarms(bucket) == []


def test_a_run_is_suspected_of_its_own_level_and_not_of_that_which_a_newer_version_has():
    def release(index):
        return f"1.{index}.0" if index <= STEP else "1.0.0"

    *earlier, newest, of_old_version = runs_of([100.0, 101.0, 99.0] * 10 + [70.0, 100.0], release)

    assert is_suspected(stored(earlier), newest, "rocksdb")
    assert not is_suspected(stored([*earlier, newest]), of_old_version, "rocksdb")


def test_a_history_is_stored_without_loss():
    runs = tuple(runs_of([1.0, 2.5, 1e300], canaries=[0.5, 0.25, 2.0]))
    (median,) = runs[0].medians
    first = runs[0].model_copy(update={"medians": (median._replace(quartiles=(0.5, 1.5)),)})
    history = History((first, *runs[1:]))

    assert History.read(history.packed()) == history


def test_a_history_of_the_first_form_is_read():
    runs = tuple(runs_of([1.0, 2.5], canaries=[0.5, 0.25]))
    old = [
        {
            **run.model_dump(mode="json"),
            "medians": [{**each._asdict(), "series": [*each.series]} for each in run.medians],
        }
        for run in runs
    ]

    assert History.read(json.dumps({"runs": old}).encode()) == History(runs)
