import csv
import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.drawn_charts import plots
from tidemark.cli.history import charts, command
from tidemark.client.history import (
    columns,
    heading,
    histories,
    sentence,
    sentences,
    spread_sentence,
    untold_sentences,
)
from tidemark.model.version_order import version_order


def row(version, metric="ingest_rate", mean="1.5", **more):
    return {
        "suite": "rocksdb", "test": "ingest", "metric": metric, "statistic": "mean", "labels": "",
        "unit": "records/s", "direction": "higher", "version": version,
        "version_order": version_order(version, packaged=True),
        "trials": "1", "mean": mean, "stddev": None,
        "min": mean, "max": mean, "first_at": "2026-11-20 12:00:00.000",
        "last_at": "2026-11-20 12:00:00.000", "provenance": "measured", "value_text": None,
        "sizes": "1 × 10,000", **more,
    }  # fmt: skip


def change(version="9.8.4", **more):
    return {
        "suite": "rocksdb", "test": "ingest", "metric": "ingest_rate", "statistic": "mean",
        "labels": "", "unit": "records/s", "changed_run": "20261120T124455Z-abcdef",
        "version": version, "version_before": "9.0.0", "level_before": "1000.0",
        "level_after": "900.0", "change": "-0.1", "verdict": "slower", "cause": "version",
        "acknowledged_until": None, "acknowledged_reason": None, "sizes": "1 × 10,000",
        "state": "lasting", "is_open": "true", "last_run": None, "last_version": None,
        "mended_run": None, "mended_version": None, "each": None, "family": "1", **more,
    }  # fmt: skip


def wider(**more):
    """Return a change of spread."""
    levels = {"level_before": "0.01", "level_after": "0.05", "change": "4.0"}
    return change(state="spread", verdict="less steady", **levels, **more)


def answering(rates, changes=(), untold=(), trials=(), spreads=()):
    """Return a function that answers what the command asks; ``trials`` are all of each figure."""

    def ask(statement, _):
        if "untold IS NOT NULL" in statement:
            rows = untold
        elif "state = 'spread'" in statement:
            rows = spreads
        elif "count_if" in statement:
            rows = trials
        else:
            rows = changes if "FROM changes" in statement else rates
        return SimpleNamespace(records=lambda: list(rows))

    return ask


def history(monkeypatch, rates, *options, suite="rocksdb", **said):
    """Return the result of the command over these answers."""
    stored = nullcontext(SimpleNamespace(tables=SimpleNamespace(ask=answering(rates, **said))))
    monkeypatch.setattr("tidemark.cli.history.stored", lambda _: stored)
    return CliRunner().invoke(command, [suite, *options])


def silent(text, metric="ingest_rate"):
    series = {"test": "ingest", "metric": metric, "statistic": "mean", "labels": ""}
    return {**(series if metric else dict.fromkeys(series)), "untold": text}


def counted(trials, excluded=0, without=0, metric="ingest_rate"):
    row = silent("", metric)
    del row["untold"]
    return {**row, "trials": str(trials), "excluded": str(excluded), "without": str(without)}


def test_versions_are_in_their_order_for_any_order_of_rows():
    found = histories([row("9.10.0"), row("9.8.4"), row("8.8.1")])

    assert [version.version for version in found] == ["8.8.1", "9.8.4", "9.10.0"]


def test_a_version_has_all_its_metrics_and_the_day_of_its_last_trial():
    (found,) = histories(
        [row("9.8.4", last_at="2026-11-21 23:59:59.999"), row("9.8.4", "compaction_rate")]
    )

    assert set(found.figures) == {"ingest_rate", "compaction_rate"}
    assert found.record()["last_at"] == "2026-11-21"


def test_a_metric_of_two_tests_has_a_column_for_each():
    (found,) = histories(
        [row("9.8.4", "latency", test=test) for test in ("bounded", "unbounded")] + [row("9.8.4")]
    )

    assert set(found.figures) == {"bounded latency", "unbounded latency", "ingest_rate"}
    assert heading("bounded latency", [found]) == "Bounded latency (records/s)"


def test_a_figure_keeps_every_bit_of_its_mean():
    (found,) = histories([row("9.8.4", mean="734306.6000000001")])

    assert found.record()["metrics"]["ingest_rate"]["value"] == 734306.6000000001


def test_a_line_of_csv_has_the_fields_and_numbers_of_json():
    (found,) = histories(
        [row("9.8.4", mean="868557.1000000001", stddev="211553.2", trials="3"), row("9.8.4", "one")]
    )

    several, one = found.lines()
    assert (several["figure"], several["value"]) == ("ingest_rate", "868557.1000000001")
    assert (several["spread"], several["trials"]) == ("211553.2", "3")
    assert (one["figure"], one["spread"], one["trials"]) == ("one", None, "1")
    assert several.keys() - found.record().keys() - {"figure"} == vars(found.figures["one"]).keys()


@pytest.mark.parametrize(
    ("more", "supported", "exact"),
    [
        ({"value_text": "366000"}, "366000", "366000"),
        ({"mean": "734306.64"}, "734.3 k", "734,306.6"),
        (
            {"mean": "734306.64", "stddev": "22316.3", "trials": "3"},
            "734 k ± 22 k (3 trials)",
            "734,306.6 ± 22,316.3 (3 trials)",
        ),
    ],
)
def test_a_figure_is_printed_as_imported_or_with_its_spread(more, supported, exact):
    (found,) = histories([row("9.8.4", **more)])

    figure = found.figures["ingest_rate"]
    assert (figure.text(exact=False), figure.text(exact=True)) == (supported, exact)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], " 734 k ± 22 k (3 trials)"),
        (["--exact"], " 734,306.6 ± 22,316.3 (3 trials)"),
        (["--format", "markdown"], " 734,306.6 ± 22,316.3 (3 trials)"),
    ],
)
def test_the_table_alone_leaves_out_the_digits_that_the_spread_does_not_support(
    monkeypatch, options, text
):
    rates = [row("9.8.4", mean="734306.64", stddev="22316.3", trials="3")]

    assert text in history(monkeypatch, rates, *options).output


def test_a_version_with_trials_of_several_sizes_stands_once_for_each():
    small, large = "1 × 50,000", "1 × 1,000,000"
    found = histories([
        row("9.8.4", sizes=small), row("9.8.4", "compaction_rate", sizes=small),
        row("9.8.4", sizes=large), row("9.9.0", sizes=large),
    ])  # fmt: skip

    assert [(each.version, each.sizes, len(each.figures)) for each in found] == [
        ("9.8.4", small, 2),
        ("9.8.4", large, 1),
        ("9.9.0", large, 1),
    ]


def test_a_statistic_other_than_the_mean_has_a_column_of_its_own():
    found = histories([row("9.8.4"), row("9.8.4", statistic="p99", labels='{"op": "read"}')])

    assert columns(found) == ["ingest_rate", "ingest_rate p99 {op: read}"]


@pytest.mark.parametrize("second", ["9.8.4", "9.9.0"])
@pytest.mark.parametrize("changed", [{"unit": "MB/s"}, {"direction": "lower"}])
def test_a_metric_whose_unit_or_direction_changed_has_a_column_for_each(second, changed):
    found = histories([row("9.8.4"), row(second, mean="7.5", **changed)])

    before, after = {"unit": "records/s", "direction": "higher"}, changed
    names = ["ingest_rate ({unit}, {direction} is better)".format(**{**before, **each})
             for each in (before, after)]  # fmt: skip
    values = {name: each.figures[name].value for each in found for name in each.figures}
    assert values == dict(zip(names, (1.5, 7.5), strict=True))
    assert [heading(name, found) for name in names] == [
        name.replace("ingest_rate", "Ingest rate") for name in names
    ]
    drawn = charts(found, {name: heading(name, found) for name in names})
    assert [len(chart["layer"][0]["data"]["values"]) for chart in drawn] == [1, 1]


def test_a_change_without_another_version_does_not_say_that_one_came_after_another():
    text = sentence(change(version="8.8.1", version_before="8.8.1", cause="environment"))

    assert "since run 20261120T124455Z-abcdef (8.8.1 before and after): " in text


@pytest.mark.parametrize("second", ["1 × 10,000", "1 × 1,000,000"])
def test_the_table_has_a_column_of_sizes_if_there_are_several(monkeypatch, second):
    rates = [row("9.8.4"), row("9.9.0", sizes=second)]

    table = history(monkeypatch, rates)

    assert second in history(monkeypatch, rates, "--format", "csv").output
    assert (second in table.output) == ("Size" in table.output) == (second != "1 × 10,000")


def test_without_a_suite_the_history_is_that_of_the_newest_run(monkeypatch):
    asked = []

    def ask(statement, parameters):
        asked.append(parameters)
        newest = "trials_planned" in statement
        return SimpleNamespace(records=lambda: [{"suite": "duckdb"}] if newest else [])

    stored = nullcontext(SimpleNamespace(tables=SimpleNamespace(ask=ask)))
    monkeypatch.setattr("tidemark.cli.history.stored", lambda _: stored)

    CliRunner().invoke(command, [])

    assert [each[:1] for each in asked] == [[], *[["duckdb"]] * 6]


def test_a_figure_has_the_last_change_of_its_level_with_its_version():
    newest, earlier = change(), change(changed_run="20260101T124455Z-abcdef", level_after="950.0")

    old, new = histories([row("9.0.0"), row("9.8.4")], [newest, earlier])

    assert old.record()["metrics"]["ingest_rate"]["changed_run"] is None
    figure = new.record()["metrics"]["ingest_rate"]
    assert (figure["changed_run"], figure["cause"]) == ("20261120T124455Z-abcdef", "version")
    assert (figure["level_before"], figure["level_after"]) == (1000.0, 900.0)


def test_a_change_of_level_is_one_of_the_size_that_had_it_alone():
    small, large = "1 × 10,000", "1 × 1,000,000"
    rows = [row("9.8.4", sizes=small), row("9.8.4", sizes=large)]
    found = histories(rows, [change(sizes=large)])

    changed = {each.sizes: each.record()["metrics"]["ingest_rate"]["changed_run"] for each in found}
    assert changed == {small: None, large: "20261120T124455Z-abcdef"}


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({}, "records/s."),
        ({"cause": "environment"}, "records/s; the environment changed with it."),
        ({"cause": "alternation"}, "records/s; it goes back and forth between two levels."),
        (
            {"acknowledged_until": "2027-01-31", "acknowledged_reason": "safer"},
            "records/s; accepted until 2027-01-31: safer.",
        ),
    ],
)
def test_a_change_is_a_sentence_with_its_cause_and_its_acknowledgement(more, end):
    text = sentence(change(**more))

    assert text == (
        "ingest_rate has been 10.00 % slower since run 20261120T124455Z-abcdef "
        "(9.8.4 after 9.0.0): "
        f"900.0 instead of 1,000.0 {end}"
    )


@pytest.mark.parametrize(("form", "place"), [("table", "stdout"), ("markdown", "stderr")])
def test_the_changes_of_the_shown_metrics_are_below_the_table(monkeypatch, form, place):
    changes = [change(), change(metric="compaction_rate")]

    result = history(monkeypatch, [row("9.8.4")], "--format", form, changes=changes)

    assert f"{sentence(change())}\n" in getattr(result, place)
    assert "compaction_rate" not in result.output


SAID = [
    silent("The changes of level leave out 1 of 4 runs.", metric=None),
    silent("cannot tell yet."),
    silent("cannot tell yet.", "compaction_rate"),
]
TRIALS = [counted(9, excluded=1, without=2), counted(1, metric="compaction_rate")]
SENTENCES = [
    "ingest_rate: the figures leave out 1 excluded trial, 2 trials without a rate, 3 trials with "
    "an image that later runs of the version no longer use.",
    "The changes of level leave out 1 of 4 runs.",
    "ingest_rate, compaction_rate: cannot tell yet.",
]


@pytest.mark.parametrize(("form", "place"), [("table", "stdout"), ("markdown", "stderr")])
def test_what_a_history_leaves_out_is_below_the_table(monkeypatch, form, place):
    rates = [row("9.8.4", trials="3"), row("9.8.4", "compaction_rate")]
    result = history(monkeypatch, rates, "--format", form, untold=SAID, trials=TRIALS)

    assert getattr(result, place).splitlines()[-3:] == SENTENCES


def test_a_figure_whose_level_nobody_looks_at_says_so(monkeypatch):
    rates = [row("9.8.4"), row("9.8.4", "size")]

    assert history(monkeypatch, rates, untold=[silent("told.")]).stdout.splitlines()[-1] == (
        "size: Tidemark looks for no change of its level: the metric decides nothing, or no run "
        "measured it in its newest version."
    )


def test_a_history_that_no_run_has_judged_says_so(monkeypatch):
    assert history(monkeypatch, [row("9.8.4")]).stdout.splitlines()[-1] == (
        "The changes of level are not judged yet; the report of the next run judges them."
    )


def test_what_a_history_leaves_out_is_in_json_and_csv_with_the_figure(monkeypatch):
    def ask(form):
        given = {"untold": SAID, "trials": TRIALS}
        return history(monkeypatch, [row("9.8.4", trials="3")], "--format", form, **given).stdout

    (version,) = json.loads(ask("json"))
    expected = [SENTENCES[0].partition(": ")[2], SAID[0]["untold"], SAID[1]["untold"]]
    assert sorted(version["metrics"]["ingest_rate"]["untold"]) == sorted(expected)
    (line,) = csv.DictReader(ask("csv").splitlines())
    assert all(text in line["untold"] for text in expected)


@pytest.mark.parametrize(
    ("suite", "trials", "end"),
    [
        ("rocksdb", (), "rates yet; `tidemark run rocksdb` measures versions"),
        (
            "mattermost",
            (),
            "rates yet; `tidemark import FILE --suite mattermost` adds published fig",
        ),
        (
            "rocksdb",
            [counted(3, excluded=3)],
            "rates that count. ingest_rate: the figures leave out 3 excluded trials.",
        ),
    ],
)
def test_a_suite_without_rates_says_why(monkeypatch, suite, trials, end):
    refused = history(monkeypatch, [], suite=suite, trials=trials).exception

    assert str(refused).startswith(f"suite: {suite} has no {end}")


def test_the_sentence_of_many_figures_names_the_first_and_counts_the_others():
    rows = [silent("cannot tell.", f"m{number}") for number in range(1200)]

    assert list(untold_sentences(rows)) == ["m0, m1, m2, m3, m4 and 1,195 more: cannot tell."]


MEASURED = [
    row("9.0.0", mean="100", stddev="10", trials="3"),
    row("9.8.4", mean="150", stddev="30", trials="3"),
    row("9.9.0", mean="180"),
]


def test_a_plot_has_each_version_with_its_spread_on_one_axis(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")

    title, *drawn = history(monkeypatch, MEASURED, "--plot").output.splitlines()

    assert title == "Ingest rate (records/s), higher is better"
    assert [line.split()[0] for line in drawn[:3]] == ["9.0.0", "9.8.4", "9.9.0"]
    assert "100 ± 10 (3 trials)" in drawn[0]
    marks = [[line.index(mark) for mark in "├●┤" if mark in line] for line in drawn[:3]]
    (a, b, c), (d, e, f), (g,) = marks
    # From 90 to 180: the axis begins at the first end.
    assert (b - a, c - a, d - a) == pytest.approx([(g - a) * part / 9 for part in (1, 2, 3)], abs=1)
    assert (e - a, f - a) == pytest.approx([(g - a) * part / 9 for part in (6, 9)], abs=1)


def test_the_figures_of_one_version_without_a_spread_are_a_point(monkeypatch):
    drawn = history(monkeypatch, [row("9.0.0", mean="0")], "--plot").output.splitlines()[1]

    assert drawn.endswith("  ●")


def test_a_plot_is_a_picture_on_request_with_all_its_words_and_no_name_of_a_colour(
    monkeypatch, tmp_path
):
    vector, pixels = tmp_path / "history.svg", tmp_path / "history.png"

    for file in (vector, pixels):
        result = history(monkeypatch, MEASURED, "--output", str(file))
        assert (result.exit_code, result.output.splitlines()[0]) == (0, str(file))

    svg = vector.read_text(encoding="utf-8")
    assert all(text in svg for text in ("9.8.4", "150 ± 30 (3 trials)", "higher is better"))
    assert "var(" not in svg
    assert pixels.read_bytes().startswith(b"\x89PNG")


def test_each_chart_of_a_picture_has_the_figures_of_the_metric_in_its_title(monkeypatch, tmp_path):
    latency = {"metric": "latency", "unit": "ms", "direction": "lower"}
    rows = [
        *MEASURED,
        row("9.0.0", mean="4.0", stddev="1.5", trials="3", **latency),
        row("9.8.4", mean="2.5", **latency),
    ]
    file = tmp_path / "history.svg"

    history(monkeypatch, rows, "--output", str(file))

    rates, latencies = plots(file.read_text(encoding="utf-8"))
    assert rates.x.title == "Ingest rate (records/s), higher is better"
    assert latencies.x.title == "Latency (ms), lower is better"
    steps = {"9.0.0": (90, 100, 110), "9.8.4": (120, 150, 180), "9.9.0": (180, 180, 180)}
    for chart, expected in (
        (rates, steps),
        (latencies, {"9.0.0": (2.5, 4, 5.5), "9.8.4": (2.5, 2.5, 2.5)}),
    ):
        spreads, points = chart.named("spreads"), chart.named("figures")
        versions = [chart.y.nearest(point.at.y).split()[0] for point in points]
        drawn = [
            tuple(chart.x.value(place.x) for place in (spread.at, point.at, spread.places[1]))
            for spread, point in zip(spreads, points, strict=True)
        ]
        assert versions == list(expected)
        assert drawn == [pytest.approx(each, abs=chart.x.unit) for each in expected.values()]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--output", "x.gif"],
            "--output: x.gif is not a picture; expected a name that ends in .svg, .png",
        ),
        (
            ["--plot", "--format", "json"],
            "--format: json is not accepted for a plot; leave --plot and",
        ),
        (["--output", "none/x.svg"], "--output: there is no folder none"),
    ],
)
def test_a_plot_that_cannot_be_drawn_is_refused(monkeypatch, options, sentence):
    result = history(monkeypatch, MEASURED, *options)

    assert sentence in str(result.exception or result.output)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (
            {"state": "suspected", "family": "344"},
            "is suspected to be 10.00 % slower among 344 figures in run 20261120T124455Z-abcdef "
            "(9.8.4 after 9.0.0): 900.0 instead of 1,000.0 records/s.",
        ),
        (
            {"last_version": "9.9.0", "mended_version": "9.10.0", "mended_run": "b"},
            "was 10.00 % slower from 9.8.4 to 9.9.0, mended in 9.10.0: "
            "900.0 instead of 1,000.0 records/s.",
        ),
        (
            {"last_version": "9.8.4", "mended_version": "9.10.0", "mended_run": "b"},
            "was 10.00 % slower in 9.8.4 alone, mended in 9.10.0: "
            "900.0 instead of 1,000.0 records/s.",
        ),
        (
            {"state": "drift", "each": "-0.005"},
            "has become 0.50 % slower a release since 9.8.4, 10.00 % in all: "
            "900.0 instead of 1,000.0 records/s.",
        ),
        (
            {"state": "drift", "each": "-0.005", "last_version": "9.10.0"},
            "became 0.50 % slower a release from 9.8.4 to 9.10.0, 10.00 % in all: "
            "900.0 instead of 1,000.0 records/s.",
        ),
        (
            {"change": None, "level_before": "0.0", "level_after": "5.0"},
            "has been slower since run 20261120T124455Z-abcdef (9.8.4 after 9.0.0): "
            "5.000 instead of 0.0 records/s.",
        ),
    ],
)
def test_each_kind_of_change_has_its_words(more, text):
    assert sentence(change(**more)) == f"ingest_rate {text}"


def test_a_change_of_spread_has_a_sentence_below_the_changes_of_level(monkeypatch):
    told = history(monkeypatch, [row("9.8.4")], changes=[change()], spreads=[wider()]).output

    words = (
        "ingest_rate has been less steady since run 20261120T124455Z-abcdef (9.8.4 after 9.0.0): "
        "its figures scatter by 5.00 % around their level instead of 1.00 %, "
        "by the Fligner-Killeen test"
    )
    assert f"{sentence(change())}\n{words}.\n" in told
    assert spread_sentence(wider(cause="environment")).startswith(f"{words}; ")


def test_a_change_that_mends_another_is_in_the_sentence_of_that_one():
    slower = change(mended_run="b", mended_version="9.9.0", last_version="9.8.4")
    faster = change(version="9.9.0", changed_run="b", verdict="faster", change="0.1")

    assert list(sentences([faster, slower])) == [sentence(slower)]


def test_a_suite_without_rates_has_a_hint_with_the_place_of_the_command(monkeypatch):
    told = history(monkeypatch, [], "--state", "/kept").exception

    assert str(told).endswith("; `tidemark run rocksdb --state /kept` measures versions")
