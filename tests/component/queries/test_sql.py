"""Every saved query over runs of every kind, against answers computed in plain Python."""

import math
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import combinations, groupby
from pathlib import Path

import pytest

from tests.checks.conformance.figures import (
    SLEEPER,
    mean_rate,
    rows_of,
    stored_figures,
    tables_of,
)
from tests.checks.conformance.local_engine import LocalEngine
from tests.last_seen import assert_last_seen
from tests.unit import two_of_everything
from tidemark.dashboard.data_sets import DATA_SETS, read_data_set
from tidemark.model.checkout import ROOT
from tidemark.store import keys
from tidemark.store.rows import packed

QUERIES = ROOT / "queries" / "sql"
ANSWERS = Path(__file__).with_name("answers.json")
METRIC = ("suite", "test", "metric", "statistic", "labels", "unit", "direction")
# The types of QuickSight by the types of Trino.
QUICKSIGHT = {
    "varchar": "STRING",
    "integer": "INTEGER",
    "bigint": "INTEGER",
    "double": "DECIMAL",
    "timestamp(3)": "DATETIME",
}
BY_VERSION = (*METRIC, "version_order", "version")


@pytest.fixture(scope="module")
def objects():
    return stored_figures()


@pytest.fixture(scope="module")
def engine(objects):
    return LocalEngine(objects)


@pytest.fixture(scope="module")
def ask(engine):
    def ask(name):
        columns, rows = engine.ask((QUERIES / f"{name}.sql").read_text(encoding="utf-8"))
        return [dict(zip([column for column, _ in columns], row, strict=True)) for row in rows]

    return ask


@pytest.mark.parametrize("path", sorted(QUERIES.glob("*.sql")), ids=lambda path: path.stem)
def test_each_saved_query_finds_rows_to_compare_with_trino(ask, path):
    assert ask(path.stem)


@pytest.fixture(scope="module")
def engine_of_all(objects):
    drawn = two_of_everything.tables(two_of_everything.stored_runs())
    return LocalEngine(drawn | objects)


@pytest.mark.parametrize("path", sorted(QUERIES.glob("*.sql")), ids=lambda path: path.stem)
def test_the_whole_answer_of_each_saved_query_is_the_answer_last_seen(engine_of_all, path):
    columns, rows = engine_of_all.ask(path.read_text(encoding="utf-8"))

    text = "\n".join(map(repr, [columns, *rows]))
    assert_last_seen(ANSWERS, path.stem, {"answer": text})


def key(row, columns):
    return tuple(row[column] for column in columns)


def ordered_sum(numbers):
    """Return the sum as the queries define it: in this order, rounded after each addition."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def mean(values):
    return ordered_sum(sorted(values)) / len(values)


def spread(values):
    if len(values) == 1:
        return None
    middle = mean(values)
    squares = [(value - middle) * (value - middle) for value in sorted(values)]
    return math.sqrt(ordered_sum(squares) / (len(values) - 1))


def rates_that_count(objects):
    """Return the rates that count, by metric and version, in order."""
    rates = [
        row for row in rows_of(objects, "rates") if row["value"] is not None and not row["excluded"]
    ]
    ordered = sorted(rates, key=lambda row: key(row, BY_VERSION))
    return {group: list(rows) for group, rows in groupby(ordered, lambda row: key(row, BY_VERSION))}


def versions(objects, suite):
    """Return the versions of a suite that have rates, in their order."""
    return [
        version
        for _, version in sorted(
            {
                key(rates[0], ("version_order", "version"))
                for rates in rates_that_count(objects).values()
                if rates[0]["suite"] == suite
            }
        )
    ]


def all_versions(objects):
    return {version for suite in ("rocksdb", "sleeper") for version in versions(objects, suite)}


def test_every_query_that_ships_is_tested_here():
    assert sorted(path.stem for path in QUERIES.glob("*.sql")) == [
        "history_omissions", "latest_run", "level_changes", "newest_runs", "rates_by_run",
        "rates_by_version", "release_events", "run_health", "runs_by_week",
        "samples_of_newest_runs", "samples_of_run", "trials_of_newest_runs",
        "unfinished_runs", "version_pairs",
    ]  # fmt: skip


def of_one_size(objects):
    """Return the rates that count, by metric, version and size, in order."""
    runs = {(run["suite"], run["run_id"]): run for run in rows_of(objects, "runs")}
    found = defaultdict(list)
    for group, rates in rates_that_count(objects).items():
        for each in rates:
            run = runs[each["suite"], each["run_id"]]
            known = f"{run['tasks']} × {run['records']:,}" if run["records"] else "unknown"
            found[*group, known].append(each)
    return dict(sorted(found.items()))


def test_rates_by_version_gives_the_trials_of_one_size_that_count(ask, objects):
    rows = ask("rates_by_version")

    expected = of_one_size(objects)
    assert [key(row, (*BY_VERSION, "sizes")) for row in rows] == list(expected)
    assert {row["sizes"] for row in rows} == {"2 × 1,000,000", "2 × 10,000", "unknown"}
    for row, rates in zip(rows, expected.values(), strict=True):
        values = [rate["value"] for rate in rates]
        times = [datetime.fromisoformat(rate["started_at"]) for rate in rates]
        assert row["trials"] == len(values)
        # Rates of several runs are added up run by run; a run's own figures are the stored ones.
        exact = len({rate["run_id"] for rate in rates}) == 1
        figures = (row["mean"], row["stddev"])
        expected = (mean(values), spread(values))
        assert figures == (expected if exact else pytest.approx(expected, rel=1e-12))
        assert (row["min"], row["max"]) == (min(values), max(values))
        assert (row["first_at"], row["last_at"]) == (min(times), max(times))


def test_rates_by_version_orders_versions_by_their_numbers(ask):
    versions = [
        row["version"]
        for row in ask("rates_by_version")
        if (row["suite"], row["metric"]) == ("rocksdb", "ingest_rate")
    ]

    assert list(dict.fromkeys(versions)) == ["8.8.1", "8.10.0", "9.0.0", "9.8.4"]


def test_rates_by_version_leaves_out_excluded_trials_and_trials_without_a_rate(objects, ask):
    left_out = [row for row in rows_of(objects, "rates") if row["value"] is None or row["excluded"]]
    everything = list(rows_of(objects, "rates"))

    assert {row["excluded"] for row in left_out} == {True, False}
    trials = sum(row["trials"] for row in ask("rates_by_version"))
    assert trials == len(everything) - len(left_out)


def test_imported_rates_keep_their_digits_and_are_marked_as_imported(ask):
    imported = {
        (row["version"], row["test"]): (row["value_text"], row["provenance"])
        for row in ask("rates_by_version")
        if row["suite"] == "sleeper"
    }

    assert imported == {
        (version, test): (text, "imported")
        for version, (_, *texts) in SLEEPER.items()
        for test, text in zip(("compaction", "ingest"), texts, strict=True)
    }


def test_measured_and_imported_rates_of_one_version_stand_apart(ask):
    of_ingest = [
        (row["provenance"], row["sizes"], row["value_text"])
        for row in ask("rates_by_version")
        if (row["metric"], row["version"]) == ("ingest_rate", "8.8.1")
    ]

    assert of_ingest == [
        ("measured", "2 × 1,000,000", None),
        ("measured", "2 × 10,000", None),
        ("imported", "unknown", "5.5e5"),
    ]


def test_a_rate_has_a_name_for_people(ask):
    names = {row["metric"]: row["rate"] for row in ask("rates_by_version")}

    assert names["compaction_rate"] == "compaction rate (records/s)"
    assert names["rate"] == "ingest rate (records/s)"  # Sleeper's metric is only called "rate"
    assert names["latency"] == "load latency p99 {operation: write} (ms)"


def test_a_version_has_a_rank_in_its_suite_and_one_time_for_all_its_rates(ask):
    rows, work = ask("rates_by_version"), ("version", "sizes")

    for suite in {row["suite"] for row in rows}:
        of_suite = [row for row in rows if row["suite"] == suite]
        order = sorted({(row["version_order"], row["version"]) for row in of_suite})
        for row in of_suite:
            assert order[row["version_rank"] - 1] == (row["version_order"], row["version"])
            alike = [other for other in of_suite if key(other, work) == key(row, work)]
            assert row["tested_at"] == max(other["last_at"] for other in alike)


def test_the_gain_of_a_version_adds_up_in_the_order_of_versions_bit_for_bit(ask):
    figures = defaultdict(list)
    for row in ask("rates_by_version"):
        figures[key(row, (*METRIC, "sizes"))].append(row)

    for rows in figures.values():
        logarithms = [math.log(row["mean"]) for row in rows if row["mean"] > 0]
        usual = ordered_sum(logarithms) / len(logarithms)
        for row in rows:
            sign = 1 if row["direction"] == "higher" else -1
            assert row["usual_gain"] == (
                math.exp(sign * (math.log(row["mean"]) - usual)) - 1 if row["mean"] > 0 else None
            )


def test_version_pairs_gives_each_version_with_each_older_one_bit_for_bit(ask, objects):
    rows = [
        row for row in ask("version_pairs") if {row["base"], row["new"]} <= all_versions(objects)
    ]

    of_runs = defaultdict(list)
    for (*metric, _, version), rates in rates_that_count(objects).items():
        for each in rates:
            of_runs[(*metric, version, each["run_id"])].append(each["value"])
    expected = {
        (*metric, base, new): tuple(
            of_runs.get((*metric, *side)) for side in compared_runs(of_runs, metric[0], base, new)
        )
        for metric in {tuple(metric) for *metric, _, _ in of_runs}
        for base, new in combinations(versions(objects, metric[0]), 2)
    }
    expected = {names: sides for names, sides in expected.items() if any(sides)}
    assert {(*key(row, METRIC), row["base"], row["new"]) for row in rows} == expected.keys()
    assert len(rows) == len(expected)
    for row in rows:
        sides = expected[*key(row, METRIC), row["base"], row["new"]]
        for side, values in zip(("base", "new"), sides, strict=True):
            assert row[f"{side}_trials"] == len(values or ())
            if values:
                assert row[f"{side}_mean"] == mean(values)
                assert row[f"{side}_stddev"] == spread(values)
                assert (row[f"{side}_min"], row[f"{side}_max"]) == (min(values), max(values))


def compared_runs(of_runs, suite, base, new):
    """Return both versions with their run: the newest of both, or else the newest of each."""
    own = [
        {run for measured, *_, version, run in of_runs if (measured, version) == (suite, side)}
        for side in (base, new)
    ]
    common = own[0] & own[1]
    return [(side, max(common or runs)) for side, runs in zip((base, new), own, strict=True)]


def newest_verdicts(objects):
    """Return the newest verdict with rates by metric, base and version."""
    rows = [row for row in rows_of(objects, "verdicts") if row["trials_base"] and row["trials_new"]]
    columns = ("suite", "test", "metric", "statistic", "labels", "baseline", "version")
    return {key(row, columns): row for row in sorted(rows, key=lambda row: row["run_id"])}


def test_verdicts_are_those_of_the_newest_run_that_measured_both(ask, objects):
    told = newest_verdicts(objects)
    columns = ("suite", "test", "metric", "statistic", "labels", "base_version", "new_version")

    judged = [row for row in ask("version_pairs") if key(row, columns) in told]

    assert judged
    for row in judged:
        verdict = told[key(row, columns)]
        assert [row[name] for name in ("verdict", "reason", "low", "high", "change", "effect")] == [
            verdict[name] for name in ("verdict", "reason", "low", "high", "change", "effect")
        ]


def test_newest_and_previous_are_words_for_the_last_two_versions_of_a_suite(ask, objects):
    by_word, by_version = {}, {}
    for row in ask("version_pairs"):
        figures = {name: row[name] for name in row if name not in ("base", "new", "pair")}
        if (row["base"], row["new"]) == ("previous", "newest"):
            by_word.setdefault(row["suite"], []).append(figures)
        if [row["base"], row["new"]] == versions(objects, row["suite"])[-2:]:
            by_version.setdefault(row["suite"], []).append(figures)

    assert set(by_word) == {"rocksdb", "sleeper"}
    assert by_word == by_version


RUN = "20261101T000000Z-0000aa"


def rate(version, value, trial=1, unit="s", direction="higher", run_id=RUN):
    return {
        **mean_rate("t", "m", version, value, unit, direction),
        "run_id": run_id,
        "trial": trial,
        "started_at": "2026-11-01 00:00:00.000",
    }


def answer_of(name, rates, runs=(), verdicts=()):
    engine = LocalEngine(tables_of("rocksdb", RUN, rates=rates, runs=runs, verdicts=verdicts))
    columns, rows = engine.ask((QUERIES / f"{name}.sql").read_text(encoding="utf-8"))
    return [dict(zip([name for name, _ in columns], row, strict=True)) for row in rows]


def level_changes_of(places_by_run):
    """Return the rows of level_changes.sql for these changed runs, None for none of a run."""
    change = {
        "test": "ingest", "metric": "ingest_rate", "statistic": "mean", "labels": "",
        "unit": "records/s", "verdict": "slower", "cause": "version", "change": -0.1,
        "title": "ingest rate (records/s)",
    }  # fmt: skip
    objects = {
        keys.table("changes", "rocksdb", run): packed(
            [{**change, "run_id": run, "changed_run": place} for place in places]
            or [{"run_id": run}]
        )
        for run, places in places_by_run.items()
    }
    run = {"run_id": "2", "tasks": 1, "records": 5_000}
    figures = tables_of("rocksdb", OLDER, rates=[rate("1.0", 1.0, run_id="2")], runs=[run])
    engine = LocalEngine({**objects, **figures})
    columns, rows = engine.ask((QUERIES / "level_changes.sql").read_text(encoding="utf-8"))
    return [dict(zip([column for column, _ in columns], row, strict=True)) for row in rows]


OLDER, NEWER = "20261120T124455Z-abcdef", "20261127T124455Z-abcdef"


def test_level_changes_are_those_of_the_newest_run_alone():
    found = level_changes_of({OLDER: ["1"], NEWER: ["2", "3"]})

    assert [row["changed_run"] for row in found] == ["3", "2"]
    assert {row["rate"] for row in found} == {"ingest rate (records/s)"}
    assert [row["sizes"] for row in found] == ["unknown", "1 × 5,000"]


def test_a_change_of_level_has_the_name_of_its_metric_in_the_charts():
    change = {
        "test": "load", "statistic": "mean", "labels": "", "unit": "s", "direction": "lower",
        "verdict": "slower", "cause": "version", "change": -0.1, "title": "load time (s)",
        "run_id": RUN, "changed_run": RUN, "metric": "time",
    }  # fmt: skip
    changes = {keys.table("changes", "rocksdb", RUN): packed([change])}
    engine = LocalEngine({**changes, **tables_of("rocksdb", RUN, rates=NAMED_ALIKE)})
    columns, rows = engine.ask((QUERIES / "level_changes.sql").read_text(encoding="utf-8"))
    (row,) = rows

    found = dict(zip([column for column, _ in columns], row, strict=True))
    assert found["rate"] == "load time (s) of load: time mean, lower is better"


def test_a_newest_run_without_changes_hides_those_that_a_dead_writer_left():
    assert level_changes_of({OLDER: ["1"], NEWER: []}) == []


def test_a_change_of_spread_is_no_change_of_level():
    change = {"test": "load", "metric": "time", "run_id": RUN, "changed_run": RUN}
    rows = [{**change, "state": state} for state in ("spread", "lasting", None)]
    engine = LocalEngine({keys.table("changes", "rocksdb", RUN): packed(rows)})

    columns, rows = engine.ask((QUERIES / "level_changes.sql").read_text(encoding="utf-8"))

    at = [name for name, _ in columns].index("state")
    assert {row[at] for row in rows} == {"lasting", None}


def events_of(*changes):
    """Return the rows of release_events.sql for changes of one figure each."""
    rows = [
        {
            "run_id": NEWER, "changed_run": OLDER, "version": "2.0", "state": "new", "test": "t",
            "metric": f"m{place}", "statistic": "mean", "labels": "", "title": f"m{place}",
            "is_open": False, **each,
        }
        for place, each in enumerate(changes)
    ]  # fmt: skip
    judged = {
        "run_id": NEWER,
        "test": "t",
        "metric": "steady",
        "statistic": "mean",
        "labels": "",
        "untold": "",
    }
    engine = LocalEngine({keys.table("changes", "rocksdb", NEWER): packed([*rows, judged])})
    columns, rows = engine.ask((QUERIES / "release_events.sql").read_text(encoding="utf-8"))
    return [dict(zip([column for column, _ in columns], row, strict=True)) for row in rows]


def test_an_event_has_the_counts_the_medians_and_the_largest_change_of_a_release():
    slower = {"verdict": "slower", "is_open": True}
    mended = {"verdict": "slower", "mended_version": "2.2"}

    (event,) = events_of(
        {**slower, "change": -0.2}, {**slower, "change": -0.4}, {**mended, "change": -0.1},
        {"verdict": "faster", "change": 0.1}, {"verdict": "faster", "change": 0.3},
    )  # fmt: skip

    assert (event["slower"], event["faster"], event["figures"]) == (3, 2, 6)
    assert (event["slower_by"], event["faster_by"]) == (-0.2, pytest.approx(0.2))
    assert (event["largest"], event["largest_change"]) == ("m1", -0.4)
    assert (event["still_open"], event["mended"]) == (2, 1)


def test_a_change_from_zero_is_the_largest_of_its_event():
    slower = {"verdict": "slower"}

    (event,) = events_of({**slower, "change": None}, {**slower, "change": 15.0})

    assert (event["largest"], event["largest_change"], event["slower_by"]) == ("m0", None, 15.0)


def test_suspicions_are_an_event_of_their_own_and_drifts_are_none():
    change = {"verdict": "slower", "change": -0.1}

    others = ({**change, "state": state} for state in ("suspected", "drift", "spread"))
    events = events_of(change, *others)

    assert [(event["state"], event["slower"]) for event in events] == [
        ("changed", 1),
        ("suspected", 1),
    ]


NAMED_ALIKE = [
    {
        **mean_rate("load", metric, version, value, "s", "lower"),
        "run_id": RUN, "trial": trial, "started_at": "2026-11-01 00:00:00.000",
    }
    for trial, version in enumerate(("1.0", "1.1"), start=1)
    for metric, value in (("time", 2.0), ("load_time", 40.0))
]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["rates_by_version", "rates_by_run", "trials_of_newest_runs", "version_pairs"]
)
def test_two_metrics_of_one_written_name_are_two_series(name):
    run = {"run_id": RUN, "started_at": "2026-11-01 00:00:00.000", "versions": ["1.0", "1.1"]}

    rows = answer_of(name, NAMED_ALIKE, [run])

    series = {row["metric"]: (row["rate"], row["series"]) for row in rows}
    for metric in ("time", "load_time"):
        rate = f"load time (s) of load: {metric} mean, lower is better"
        assert series[metric] == (rate, f"rocksdb: {rate}")


@pytest.mark.parametrize(
    "name", ["rates_by_version", "rates_by_run", "trials_of_newest_runs", "version_pairs"]
)
@pytest.mark.parametrize(("metric", "direction"), [("load_time", "lower"), ("time", "higher")])
def test_a_metric_of_a_new_name_or_direction_is_another_series(name, metric, direction):
    started, later = "2026-11-01 00:00:00.000", "20261102T000000Z-0000aa"
    rates = [
        {**mean_rate("load", *measured), "run_id": run_id, "trial": 1, "started_at": started}
        for run_id, measured in (
            (RUN, ("time", "1.0", 2.0, "s", "lower")),
            (later, (metric, "1.1", 40.0, "s", direction)),
        )
    ]
    runs = [{"run_id": run_id, "started_at": started} for run_id in (RUN, later)]

    rows = answer_of(name, rates, runs)

    told = f"rocksdb: load time (s) of load: {metric} mean, {direction} is better"
    before = "rocksdb: load time (s) of load: time mean, lower is better"
    assert {row["series"] for row in rows} == {before, told}


def pairs_of(rates, runs=(), verdicts=()):
    return answer_of("version_pairs", rates, runs, verdicts)


def verdict(word, base="1.0", new="1.1", run_id=RUN, **more):
    return {
        "run_id": run_id, "test": "t", "metric": "m", "statistic": "mean", "labels": "",
        "version": new, "baseline": base, "verdict": word, "reason": "", "effect": -0.14,
        "low": -0.2, "high": -0.1, "trials_base": 1, "trials_new": 1, **more,
    }  # fmt: skip


LATER = "20261102T000000Z-0000bb"


@pytest.mark.parametrize(("later", "taken"), [("aborted", RUN), ("complete", LATER)])
def test_a_pair_is_that_of_an_aborted_run_only_if_there_is_no_other(later, taken):
    values = {RUN: 10.0, LATER: 20.0}
    rates = [
        rate(version, value, run_id=run)
        for run, value in values.items()
        for version in ("1.0", "1.1")
    ]
    runs = [{"run_id": RUN, "status": "complete"}, {"run_id": LATER, "status": later}]

    assert {row["new_mean"] for row in pairs_of(rates, runs)} == {values[taken]}
    aborted = [{**run, "status": "aborted"} for run in runs]
    assert {row["new_mean"] for row in pairs_of(rates, aborted)} == {values[LATER]}


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_figures_and_verdict_are_those_of_one_run(direction):
    rates = [
        rate(version, value, trial, direction=direction, run_id=run_id)
        for run_id, values in {RUN: (100.0, 10.0), LATER: (200.0, 170.0)}.items()
        for trial, (version, value) in enumerate(zip(("1.0", "1.1"), values, strict=True), start=1)
    ]

    rows = pairs_of(rates, (), [verdict("faster"), verdict("slower", run_id=LATER)])

    assert rows
    for row in rows:
        assert (row["verdict"], row["reason"], row["slower"]) == ("slower", "", 1)
        assert (row["base_mean"], row["new_mean"]) == (200.0, 170.0)
        assert (row["base_trials"], row["new_trials"]) == (1, 1)
        assert row["change"] == pytest.approx(-0.15)
        assert row["gain"] == row["change"] * (1 if direction == "higher" else -1)
        assert row["effect_gain"] == row["effect"] * (1 if direction == "higher" else -1)
        assert (row["effect"], row["low"], row["high"]) == (-0.14, -0.2, -0.1)
        assert (row["gain_low"], row["gain_high"]) == (
            (-0.2, -0.1) if direction == "higher" else (0.1, 0.2)
        )
        assert (row["unlike"], row["qualified_verdict"]) == ("", "slower")


@pytest.mark.parametrize(
    ("baseline", "measured", "base"),
    [
        ("1.0", ("1.0", "1.1", "1.2"), "1.0"),
        (None, ("1.0", "1.1", "1.2"), "1.1"),
        ("1.2", ("1.0", "1.1", "1.2"), "1.1"),  # the newest version is the baseline itself
        ("1.0", ("1.1", "1.2"), "1.1"),  # no trial of the baseline has a rate
    ],
)
def test_the_base_of_the_newest_version_is_the_baseline_of_its_run(baseline, measured, base):
    rates = [rate("1.0", 100.0), *(rate(version, 90.0, run_id=LATER) for version in measured)]
    runs = [{"run_id": RUN, "baseline": "1.1"}, {"run_id": LATER, "baseline": baseline}]
    told = [verdict("slower", "1.0", "1.2", LATER), verdict("same", "1.1", "1.2", LATER)]

    rows = [row for row in pairs_of(rates, runs, told) if row["base"] == "base"]

    assert [(row["new"], row["base_version"], row["new_version"]) for row in rows] == [
        ("newest", base, "1.2")
    ]
    assert rows[0]["verdict"] == ("slower" if base == "1.0" else "same")
    assert rows[0]["pair"] == 1


def test_a_verdict_on_unlike_machines_says_so_and_counts_as_none():
    rates = [rate("1.0", 100.0), rate("1.1", 90.0)]
    words = {"slower": "slower on unlike machines", "cannot tell": "cannot tell"}

    for word, told in words.items():
        row, *_ = pairs_of(rates, (), [verdict(word, unlike_machines=True)])
        assert (row["verdict"], row["qualified_verdict"]) == (word, told)
        assert (row["slower"], row["untold"]) == (0, 1)
        assert row["unlike"] == "their machines differ"


def test_a_verdict_without_rates_on_one_side_does_not_count():
    rates = [rate("1.0", 100.0), rate("1.1", 90.0)]
    empty = verdict("cannot tell", run_id=LATER, trials_new=0, reason="0 of the 5 pairs")

    rows = pairs_of(rates, (), [verdict("slower"), empty])

    assert {row["verdict"] for row in rows} == {"slower"}


def test_versions_without_a_common_run_have_the_newest_run_of_each_and_no_verdict():
    rates = [rate("1.0", 100.0), rate("1.0", 120.0, run_id=LATER), rate("1.1", 90.0, run_id="3")]

    row, *_ = pairs_of(rates)

    assert (row["base_mean"], row["new_mean"], row["untold"]) == (120.0, 90.0, 1)
    assert (row["verdict"], row["low"], row["high"]) == ("cannot tell", None, None)
    assert row["effect"] == pytest.approx(-0.25)
    assert row["reason"] == "different runs measured the versions"


def test_a_run_without_stored_verdicts_says_so():
    row, *_ = pairs_of([rate("1.0", 100.0), rate("1.1", 90.0)])

    assert (row["verdict"], row["reason"]) == ("cannot tell", "no verdict is stored")


def test_a_change_that_overflows_leaves_the_other_figures_alone():
    small, large = [1e-200, 2e-200], [1e200, 2e200]
    rows = pairs_of([
        rate(version, value, trial)
        for version, values in {"1.0": small, "1.1": large, "1.2": large}.items()
        for trial, value in enumerate(values, start=1)
    ])  # fmt: skip

    assert {key(row, ("base_version", "new_version", "change")) for row in rows} == {
        ("1.0", "1.1", math.inf), ("1.0", "1.2", math.inf), ("1.1", "1.2", 0.0),
    }  # fmt: skip


def test_a_metric_whose_unit_changed_is_not_comparable():
    rows = pairs_of([rate("1.0", 1.0, unit="ms"), rate("1.1", 1000.0, unit="us")])

    assert {key(row, ("unit", "verdict", "reason")) for row in rows} == {
        ("ms", "not comparable", "another unit: 1.1 has it in us"),
        ("us", "not comparable", "another unit: 1.0 has it in ms"),
    }


def test_a_metric_whose_direction_changed_is_not_comparable():
    rows = pairs_of([rate("1.0", 1.0, direction="lower"), rate("1.1", 2.0, direction="higher")])

    assert {key(row, ("direction", "verdict", "reason")) for row in rows} == {
        ("lower", "not comparable", "another direction: higher is better for 1.1"),
        ("higher", "not comparable", "another direction: lower was better for 1.0"),
    }


def test_versions_that_were_not_measured_alike_are_compared_and_marked():
    sizes = {"1": (1, 1_000_000), "2": (1, 1_000_000), "3": (1, 10_000), "4": (2, 10_000)}
    measured = {"1.0": "1", "1.1": "12", "1.2": "3", "1.3": "34", "1.4": "i", "1.5": "2"}
    rows = pairs_of(
        [
            rate(version, 100.0, trial, run_id=run_id)
            for version, in_runs in measured.items()
            for trial, run_id in enumerate(in_runs)
        ]
        # Rates that do not count do not make this a run that measured both versions.
        + [rate("1.5", None, trial=1, run_id="1")]
        + [{**rate("1.5", 1.0, trial=2, run_id="1"), "excluded": True}],
        [
            {"run_id": run_id, "tasks": tasks, "records": records}
            for run_id, (tasks, records) in sizes.items()
        ],
    )

    large, small = "1 × 1,000,000", "1 × 10,000"
    unlike = {key(row, ("base", "new")): row["unlike"] for row in rows if row["unlike"]}
    assert {pair: unlike[pair] for pair in unlike if {*pair} <= {*measured}} == {
        ("1.0", "1.2"): f"1.0: {large}, 1.2: {small}; no run measured both",
        ("1.0", "1.3"): f"1.0: {large}, 1.3: 2 × 10,000; no run measured both",
        ("1.0", "1.4"): "no run measured both",
        ("1.0", "1.5"): "no run measured both",
        ("1.1", "1.2"): f"1.1: {large}, 1.2: {small}; no run measured both",
        ("1.1", "1.3"): f"1.1: {large}, 1.3: 2 × 10,000; no run measured both",
        ("1.1", "1.4"): "no run measured both",
        ("1.2", "1.4"): "no run measured both",
        ("1.2", "1.5"): f"1.2: {small}, 1.5: {large}; no run measured both",
        ("1.3", "1.4"): "no run measured both",
        ("1.3", "1.5"): f"1.3: 2 × 10,000, 1.5: {large}; no run measured both",
        ("1.4", "1.5"): "no run measured both",
    }


def test_versions_that_differ_in_another_parameter_are_marked():
    runs = [
        {"run_id": "1", "tasks": 1, "records": 5, "parameters": None},
        {"run_id": "2", "parameters": '{"users": 50}'},
        {"run_id": "3", "parameters": '{"users": 90}'},
    ]
    measured = {"1.0": "1", "1.1": "2", "1.2": "23"}
    rates = [
        rate(version, 1.0, trial, run_id=run_id)
        for version, in_runs in measured.items()
        for trial, run_id in enumerate(in_runs)
    ]

    unlike = {key(row, ("base", "new")): row["unlike"] for row in pairs_of(rates, runs)}
    sizes = {key(row, ("version", "sizes")) for row in answer_of("rates_by_version", rates, runs)}

    fifty, ninety = '{"users": 50}', '{"users": 90}'
    assert sizes == {("1.0", "1 × 5"), ("1.1", fifty), ("1.2", fifty), ("1.2", ninety)}
    assert unlike["1.0", "1.1"] == '1.0: 1 × 5, 1.1: {"users": 50}; no run measured both'
    assert unlike["1.0", "1.2"] == '1.0: 1 × 5, 1.2: {"users": 90}; no run measured both'
    assert unlike["1.1", "1.2"] == ""


def test_rates_by_version_has_a_row_for_each_size_and_never_a_mean_of_several():
    measured = {"1.0": "1", "1.1": "112", "1.2": "13", "1.3": "i", "1.4": "14"}
    values = {"1": 100.0, "2": 900.0, "3": 500.0, "4": 7.0, "i": 100.0}
    rates = [
        {**rate(version, values[run_id], trial, run_id=run_id), "excluded": run_id == "4"}
        for version, in_runs in measured.items()
        for trial, run_id in enumerate(in_runs)
    ]
    sizes = {"1": (1, 10_000), "2": (1, 1_000_000), "3": (2, 10_000), "4": (9, 9)}
    runs = [
        {"run_id": run_id, "tasks": tasks, "records": records}
        for run_id, (tasks, records) in sizes.items()
    ]

    rows = answer_of("rates_by_version", rates, runs)

    assert [key(row, ("version", "sizes", "trials", "mean")) for row in rows] == [
        ("1.0", "1 × 10,000", 1, 100.0),
        ("1.1", "1 × 1,000,000", 1, 900.0),
        ("1.1", "1 × 10,000", 2, 100.0),
        ("1.2", "1 × 10,000", 1, 100.0),
        ("1.2", "2 × 10,000", 1, 500.0),
        ("1.3", "unknown", 1, 100.0),
        ("1.4", "1 × 10,000", 1, 100.0),
    ]
    assert {row["series"] for row in rows} == {f"rocksdb: t m (s), {row['sizes']}" for row in rows}


def test_a_version_has_one_place_where_older_rows_have_another():
    before = {"version_order": "00000001.00000004.00000004+1a2b,", "run_id": "1"}
    build, release, later = "1.4.4+1a2b", "1.4.4", "1.4.5"
    rates = [
        {**rate(build, 1.0), **before},
        *(rate(version, 2.0, run_id="2") for version in (build, release, later)),
    ]

    by_version = answer_of("rates_by_version", rates)
    pairs = answer_of("version_pairs", rates)

    assert [key(row, ("version", "trials", "version_rank")) for row in by_version] == [
        (release, 1, 1), (build, 2, 2), (later, 1, 3),
    ]  # fmt: skip
    assert {key(row, ("base_version", "new_version")) for row in pairs} == {
        (build, later), (release, later), (release, build),
    }  # fmt: skip


def test_a_place_from_a_known_order_goes_before_the_place_in_a_later_run_without_one():
    as_named = {"1.1": "~0001", "main": "~0002"}
    rates = [
        *(rate(version, 2.0, run_id="1") for version in ("1.1", "1.2")),
        *(
            {**rate(version, 3.0, run_id="2"), "version_order": place}
            for version, place in as_named.items()
        ),
    ]

    ranks = {row["version"]: row["version_rank"] for row in answer_of("rates_by_version", rates)}
    pairs = {key(row, ("base_version", "new_version")) for row in answer_of("version_pairs", rates)}

    assert ranks == {"1.1": 1, "1.2": 2, "main": 3}
    assert pairs == {("1.1", "1.2"), ("1.1", "main"), ("1.2", "main")}


def test_rates_by_run_has_the_newest_version_of_each_of_the_newest_hundred_runs():
    names = [f"2026{number:04}" for number in range(102)]
    rates = [
        each
        for run_id in names
        for each in (
            rate("1.9", 5.0, trial=1, run_id=run_id),
            rate("1.10", 1.0, trial=2, run_id=run_id),
            rate("1.10", 2.0, trial=3, run_id=run_id),
            {**rate("1.10", 9.0, trial=4, run_id=run_id), "excluded": True},
        )
    ]
    runs = [
        {"run_id": run_id, "started_at": "2026-11-01 00:00:00.000", "tasks": 1, "records": 5_000}
        for run_id in names
    ]

    rows = answer_of("rates_by_run", rates, runs)

    assert [row["run_id"] for row in rows] == names[:1:-1]
    told = {key(row, ("version", "trials", "mean", "min", "max", "sizes")) for row in rows}
    assert told == {("1.10", 2, 1.5, 1.0, 2.0, "1 × 5,000")}
    assert {row["series"] for row in rows} == {"rocksdb: t m (s)"}


def test_the_series_of_a_suite_with_one_size_do_not_name_it():
    (row,) = answer_of("rates_by_version", [rate("1.0", 1.0)])

    assert row["series"] == "rocksdb: t m (s)"


def test_trials_of_an_image_count_if_only_runs_of_another_size_replaced_it():
    records = {RUN: 5, LATER: 9}
    rates = [{**rate("1.0", 1.0 * size, run_id=run_id), "image_digest": f"sha256:{size}"}
             for run_id, size in records.items()]  # fmt: skip
    runs = [{"run_id": run_id, "tasks": 1, "records": size} for run_id, size in records.items()]

    rows = answer_of("rates_by_version", rates, runs)

    assert [key(row, ("sizes", "mean")) for row in rows] == [("1 × 5", 5.0), ("1 × 9", 9.0)]


def test_trials_of_an_image_that_a_later_run_replaced_are_not_in_the_mean_of_its_size():
    images = {RUN: "sha256:a", LATER: "sha256:b"}
    rates = [
        {**rate(version, value, run_id=run_id), "image_digest": images[run_id]}
        for version, run_id, value in (("1.0", RUN, 1.0), ("1.1", RUN, 1.0), ("1.1", LATER, 9.0))
    ]

    rows = answer_of("rates_by_version", rates)

    means = [key(row, ("version", "trials", "mean")) for row in rows]
    assert means == [("1.0", 1, 1.0), ("1.1", 1, 9.0)]


def test_a_metric_that_one_version_lacks_is_not_comparable():
    rates = [rate("1.0", 1.0), {**rate("1.1", 2.0, trial=2), "metric": "other"}]
    older = rate("1.1", 3.0, run_id="2")

    lacking = pairs_of([*rates, older])

    assert {row["metric"] for row in lacking} == {"m", "other"}
    for row in lacking:
        version = row["base_version"] if row["base_mean"] is None else row["new_version"]
        assert (row["verdict"], row["reason"]) == ("not comparable", f"no rate of {version}")
        assert (row["change"], row["gain"], row["low"], row["high"]) == (None, None, None, None)
        assert (row["slower"], row["missing"], row["untold"]) == (0, 1, 1)


def test_latest_run_gives_every_rate_of_the_newest_run_of_each_suite(ask, objects):
    rates = list(rows_of(objects, "rates"))
    newest = {row["suite"]: row["run_id"] for row in sorted(rates, key=lambda row: row["run_id"])}
    rate = ("suite", "run_id", "trial", "test", "metric", "version", "value", "excluded")

    answer = [key(row, rate) for row in ask("latest_run")]

    assert len(set(answer)) == len(answer)
    assert set(answer) == {key(row, rate) for row in rates if row["run_id"] == newest[row["suite"]]}


def test_samples_of_run_gives_every_sample_of_every_run_once(ask, objects):
    sample = ("suite", "run_id", "trial", "test", "metric", "log_stream", "line",
              "version", "value", "value_text", "excluded")  # fmt: skip

    answer = [key(row, sample) for row in ask("samples_of_run")]

    assert len(set(answer)) == len(answer)
    assert set(answer) == {key(row, sample) for row in rows_of(objects, "task_rates")}


def test_samples_that_are_not_numbers_keep_their_text(ask):
    texts = {row["value_text"] for row in ask("samples_of_run") if row["value"] is None}

    assert texts == {"∞"}


def test_run_health_gives_each_run_once_with_the_newest_first(ask, objects):
    rows = ask("run_health")

    started = [row["started_at"] for row in rows]
    assert started == sorted(started, reverse=True)
    copied = ("suite", "run_id", "status", "reason", "trials_planned", "trials_done",
              "task_seconds", "note", "trigger")  # fmt: skip
    stored = list(rows_of(objects, "runs"))
    assert len(rows) == len(stored)
    assert {key(row, copied) for row in rows} == {key(row, copied) for row in stored}
    assert {row["versions"] for row in rows} == {"8.8.1, 8.10.0, 9.0.0, 9.8.4", ""}


def newest(objects, condition=lambda run: True):
    """Return each suite's runs that fulfil a condition, the newest first."""
    runs = sorted(
        (run for run in rows_of(objects, "runs") if condition(run)), key=lambda run: run["run_id"]
    )
    suites = sorted({run["suite"] for run in runs})
    return {suite: [run for run in runs[::-1] if run["suite"] == suite] for suite in suites}


def test_newest_runs_gives_five_runs_of_each_suite_and_calls_the_first_newest(ask, objects):
    rows = ask("newest_runs")

    expected = newest(objects)
    assert max(map(len, expected.values())) > 5
    assert [(row["suite"], row["run_id"], row["run"]) for row in rows] == [
        (suite, run["run_id"], run["run_id"] if place else "newest")
        for suite, runs in expected.items()
        for place, run in enumerate(runs[:5])
    ]
    stored = {run["run_id"]: run for run in rows_of(objects, "runs")}
    copied = ("status", "reason", "trials_planned", "trials_done", "cost_usd", "task_seconds")
    for row in rows:
        assert key(row, copied) == key(stored[row["run_id"]], copied)
        if row["ended_at"]:
            assert row["seconds"] == (row["ended_at"] - row["started_at"]).total_seconds()


@pytest.mark.parametrize(
    ("name", "table", "columns"),
    [
        ("trials_of_newest_runs", "rates", ("trial", "test", "metric", "labels", "value", "unit")),
        ("samples_of_newest_runs", "task_rates", ("trial", "test", "line", "task_id", "value")),
    ],
)
def test_trials_and_samples_are_those_of_the_newest_five_runs(ask, objects, name, table, columns):
    words = {
        run["run_id"]: run["run_id"] if place else "newest"
        for runs in newest(objects).values()
        for place, run in enumerate(runs[:5])
    }

    answer = [(row["suite"], row["run"], *key(row, columns)) for row in ask(name)]

    expected = [
        (row["suite"], words[row["run_id"]], *key(row, columns))
        for row in rows_of(objects, table)
        if row["run_id"] in words
    ]
    assert sorted(answer, key=repr) == sorted(expected, key=repr)


def test_a_figure_that_does_not_count_has_a_reason(ask):
    for row in ask("trials_of_newest_runs"):
        counts = row["counts"]
        assert (counts == "no: it has no rate") == (row["value"] is None and "excl" not in counts)
    reasons = {name: {row["counts"] for row in ask(name)} for name in DATA_SETS
               if name.endswith("_of_newest_runs")}  # fmt: skip

    assert reasons == {
        "trials_of_newest_runs": {"yes", "no: excluded", "no: it has no rate"},
        "samples_of_newest_runs": {"yes", "no: excluded", "no: it is not a number"},
    }


def test_runs_by_week_counts_each_run_once_by_how_it_ended(ask, objects):
    rows = ask("runs_by_week")

    expected = {}
    for run in rows_of(objects, "runs"):
        day = datetime.fromisoformat(run["started_at"]).date()
        week = expected.setdefault(
            (run["suite"], day - timedelta(day.weekday()), run["status"]), []
        )
        week.append(run)
    assert [(row["suite"], row["week"].date(), row["status"]) for row in rows] == sorted(expected)
    for row, runs in zip(rows, dict(sorted(expected.items())).values(), strict=True):
        planned = sum(run["trials_planned"] or 0 for run in runs)
        done = sum(run["trials_done"] or 0 for run in runs)
        assert (row["runs"], row["trials_planned"], row["trials_done"], row["trials_missing"]) == (
            len(runs), planned, done, planned - done,
        )  # fmt: skip
        assert row["not_complete"] == (0 if row["status"] == "complete" else len(runs))


def test_weeks_without_a_run_add_up_to_the_gaps_between_the_first_and_the_last_run(ask):
    rows = [row for row in ask("runs_by_week") if row["suite"] == "rocksdb"]

    weeks = sorted({row["week"] for row in rows})
    span = (weeks[-1] - weeks[0]).days // 7 + 1
    assert sum(row["weeks_without_run"] for row in rows) == span - len(weeks) > 0


def test_unfinished_runs_gives_each_run_that_did_not_complete_with_its_reason(ask, objects):
    rows = ask("unfinished_runs")

    unfinished = newest(objects, lambda run: run["status"] != "complete")
    assert [row["run_id"] for row in rows] == sorted(
        (run["run_id"] for runs in unfinished.values() for run in runs), reverse=True
    )
    assert {key(row, ("status", "reason", "trials_missing")) for row in rows} == {
        ("incomplete", "ingest: 1 task died", 1)
    }


@pytest.mark.parametrize("name", DATA_SETS)
def test_a_data_set_has_the_columns_that_its_query_gives(engine, name):
    columns, _ = engine.ask((QUERIES / f"{name}.sql").read_text(encoding="utf-8"))

    assert read_data_set(name).columns == {column: QUICKSIGHT[kind] for column, kind in columns}


@pytest.mark.parametrize("name", DATA_SETS)
def test_a_data_set_gives_the_same_rows_without_a_database(engine, name):
    data_set = read_data_set(name)

    assert engine.ask(data_set.within("tidemark")) == engine.ask(data_set.sql)


@pytest.mark.parametrize("name", ["samples_of_run", "run_health"])
def test_a_query_of_runs_can_be_wrapped_in_a_condition_on_the_partition(engine, name):
    text = (QUERIES / f"{name}.sql").read_text(encoding="utf-8")
    _, rows = engine.ask(f"SELECT DISTINCT suite FROM (\n{text}\n) WHERE suite = 'rocksdb'")

    assert rows == [["rocksdb"]]
