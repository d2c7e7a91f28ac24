"""Tables of figures that no suite describes."""

from datetime import date

import pytest

from tidemark.client.published.file_figures import figures_without_suite
from tidemark.client.published.own_figures import Known
from tidemark.client.published.release_figure import Amount
from tidemark.client.published.release_tables import Wishes
from tidemark.model.refusal import Refused

TODAY = date(2026, 11, 27)


def found(text, better=None, stored=None, **wishes):
    read = figures_without_suite(text, Wishes(**wishes), TODAY)
    return read.named("nightly", better, stored or {})


def values(text, **more):
    return [each.amount.value for each in found(text, **more).figures]


def metrics(text, **more):
    of_file = found(text, **more).publication.figures
    return {each.metric: (each.unit, each.direction) for each in of_file}


def refused(text, **more):
    with pytest.raises(Refused) as caught:
        found(text, **more)
    return str(caught.value)


def test_each_column_of_figures_is_a_metric_with_its_unit_and_a_guessed_direction():
    text = "commit,time,Ingest rate (rows/s),Query latency [ms],host\nb6589fc6,2026-01-01,5,6,a\n"

    of_file = found(text)

    assert metrics(text) == {
        "ingest_rate": ("rows/s", "higher"), "query_latency": ("ms", "lower"),
    }  # fmt: skip
    assert [(each.version, each.tested_on) for each in of_file.figures] == [
        ("b6589fc6", date(2026, 1, 1))
    ] * 2
    assert of_file.notes == [
        "machine: 'host'",
        "Ingest rate: higher is better (guessed); --better says otherwise",
        "Query latency: lower is better (guessed); --better says otherwise",
    ]


def test_the_last_word_of_a_heading_may_be_the_unit_but_not_of_a_rate_or_a_least_figure():
    text = "commit,time,p99_ms,heap MiB,rows_per_sec,read min,ms\nb6589fc6,2026-01-01,5,6,7,8,9\n"

    assert {name: unit for name, (unit, _) in metrics(text).items()} == {
        "p99_ms": "ms", "heap_mib": "MiB", "rows_per_sec": "units", "read_min": "units",
        "ms": "units",
    }  # fmt: skip


def test_a_text_without_a_table_is_refused_with_the_headings_that_a_table_needs():
    assert refused("nothing here\n").endswith("such as Version, Date and a metric")


def test_a_direction_that_nothing_tells_is_said_to_be_a_guess():
    (note,) = found("Version,Date,Q1\n1.0,2026-01-01,5\n").notes

    assert note == (
        "Q1: lower is better (guessed, since neither name nor unit tells); --better says otherwise"
    )
    assert metrics("Version,Date,Q1\n1.0,2026-01-01,5\n", better="higher") == {
        "q1": ("units", "higher")
    }


def test_the_unit_and_direction_of_an_earlier_import_stay():
    text = "Version,Date,Q1 (ms)\n1.0,2026-01-01,5\n"

    assert metrics(text, stored={"q1": Known("s", "higher")}) == {"q1": ("s", "higher")}
    assert values(text, stored={"q1": Known("s", "higher")}) == [0.005]


def test_a_figure_in_another_unit_than_its_metric_is_converted_with_its_spread():
    text = "Version,Date,Q1 (ms)\n1.0,2026-01-01,5000 ± 250 (6 trials)\n"

    (figure,) = found(text, stored={"q1": Known("s", "lower")}).figures

    assert figure.amount == Amount("5", 5.0, 0.25, 6)


def test_rows_of_one_version_and_a_column_of_names_are_trials_of_many_metrics():
    text = (
        "version,date,query,unit,value\n"
        "1.0,2026-01-01,q1,ms,5\n1.0,2026-01-01,q2,s,7\n1.0,2026-01-01,q1,s,0.006\n"
    )

    assert metrics(text) == {"q1": ("ms", "lower"), "q2": ("s", "lower")}
    assert values(text) == [5.0, 6.0, 7.0]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.936", "1.374"], [1.936, 1.374]),
        (["1.936", "0.5"], [1.936, 0.5]),
        (["1.936", "12.5"], [1.936, 12.5]),
        (["1.936", "1500"], [1.936, 1500]),
        (["1.936", "1.234,5"], [1936, 1234.5]),
        (["0,5", "12"], [0.5, 12]),
    ],
)
def test_the_other_figures_of_a_file_tell_its_decimal_point(cells, expected):
    rows = "".join(f"1.{n};2026-01-01;{cell}\n" for n, cell in enumerate(cells))

    assert values(f"Version;Date;Latency\n{rows}") == expected


def test_a_figure_alone_that_may_be_a_thousand_is_refused_unless_the_user_tells():
    text = "Version;Date;Latency\n1.0;2026-01-01;1.936\n1.1;2026-01-02;936\n"

    assert "'1.936' may be 1936 or 1.9360" in refused(text)
    assert values(text, point=".") == [1.936, 936]
    assert values(text, point=",") == [1936, 936]


def test_a_file_without_versions_takes_its_days_and_one_without_days_those_in_its_versions():
    nightly, named = (
        found(text).figures[0]
        for text in ("date,Q1\n2026-01-02,5\n", "version,Q1\nnightly-20260102,5\n")
    )

    assert (nightly.version, nightly.tested_on) == ("2026-01-02", date(2026, 1, 2))
    assert (named.version, named.tested_on) == ("nightly-20260102", date(2026, 1, 2))


def test_a_version_with_other_characters_is_stored_under_a_name_that_is_said():
    of_file = found("version,date,Q1\n1:1.10~rc0,2026-01-02,5\n")

    assert of_file.figures[0].version == "1-1.10-rc0"
    assert of_file.notes[0] == (
        "stored versions have letters, digits and .+_- alone, so 1 version: "
        "1:1.10~rc0 is 1-1.10-rc0"
    )


def test_two_versions_that_would_have_one_name_are_refused():
    text = "version,date,Q1\n1.10~rc0,2026-01-02,5\n1.10-rc0,2026-01-03,5\n"

    assert "the versions '1.10~rc0', '1.10-rc0' would both be 1.10-rc0" in refused(text)


_BY_DATABASE = "version,date,database,note,Latency (ms)\n" + "".join(
    f"1.{n},2026-01-0{n},{database},ran {n},{n + ms}\n"
    for n in (1, 2, 3)
    for database, ms in (("mysql", 10), ("postgres", 20))
)


def test_a_column_that_tells_rows_of_a_release_apart_is_a_label_and_not_trials():
    of_file = found(_BY_DATABASE)

    assert [(each.metric.axes["database"], each.amount.value) for each in of_file.figures[:2]] == [
        ("mysql", 11),
        ("postgres", 21),
    ]
    assert "label database: mysql, postgres; --leave-out takes rows as trials" in of_file.notes[0]
    assert of_file.notes[-1] == "left out: 1 column without figures, 'note'"


def test_a_column_that_is_left_out_makes_its_rows_trials():
    of_file = found(_BY_DATABASE, left_out=["Database"])

    assert {str(each.metric.axes) for each in of_file.figures} == {"{}"}


def test_a_column_of_numbers_is_a_label_if_the_user_says_so():
    text = "version,date,threads,Rate\n1.0,2026-01-01,1,100\n1.0,2026-01-01,8,700\n"

    of_file = found(text, labels=["Threads"])

    assert [each.metric.axes for each in of_file.figures] == [{"threads": "1"}, {"threads": "8"}]
    assert "no table of FILE has the heading 'Cores'" in refused(text, labels=["Cores"])


def test_the_machine_of_a_row_goes_with_its_figures():
    text = "version,date,CPU,cores,Rate\n1.0,2026-01-01,Xeon E5,16,100\n"

    of_file = found(text)

    assert of_file.figures[0].environment == (("cpu_model", "Xeon E5"), ("cores", "16"))
    assert "machine: 'CPU', 'cores'" in of_file.notes


def test_a_file_of_otava_is_a_table_like_any_other():
    text = (
        "time,commit,metric1,metric2\n2025.01.01 3:00:00 +0100,aaa0,154023,10.43\n"
        "2025.01.02 3:00:00 +0100,aaa1,138455,10.23\n"
    )

    assert values(text) == [154023, 138455, 10.43, 10.23]
    assert found(text).figures[0].tested_on == date(2025, 1, 1)


@pytest.mark.parametrize("cells", [("-5", "-6"), ("-1.5", "2.25")])
def test_figures_may_be_below_zero(cells):
    rows = (f"1.{n},2026-01-0{n + 1},{cell}\n" for n, cell in enumerate(cells))

    assert values("version,date,drift\n" + "".join(rows)) == [float(cell) for cell in cells]


def test_branches_have_histories_of_their_own():
    rows = "2024-01-01,a0,main,5\n2024-01-02,a1,{},6\n"
    text = "date,commit,branch,p50\n" + rows

    apart, alone = (found(text.format(branch)) for branch in ("topic", "main"))

    assert [each.metric.axes for each in apart.figures] == [{"branch": "main"}, {"branch": "topic"}]
    assert {*map(len, (each.metric.axes for each in alone.figures))} == {0}


def test_metrics_whose_names_are_alike_stay_apart():
    names = metrics("version,date,a b,a_b,1st,(P99!)\n1.0,2026-01-02,5,6,7,8\n")

    assert len(names) == 4
    assert {"a_b", "m_1st", "p99"} < {*names}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "no table has a version or a day, and figures"),
        ("version,date,Q1\n1.0,2026-01-02,x\n", "no table has a version or a day, and figures"),
        ("version,date,Q1\n1.0,2026-01-02,90 ms\n",
         "line 2: Q1: '90 ms' is not a figure; expected a number alone, and its unit in the "
         "heading, as in Q1 (ms)"),
        ("version,date,notes,Q1\n1.0,2026-01-02,info only,inf\n",
         "line 2: Q1: 'inf' is not a figure"),
        ("version,date,unit,Q1\n1.0,2026-01-02,s,1\n1.1,2026-01-03,kB,1\n",
         "line 3: the unit of Q1 is 'kB'; expected s"),
        ("version,date," + ",".join(f"q{n}" for n in range(401)) + "\n1.0,2026-01-02"
         + ",1" * 401 + "\n", "401 metrics; expected 400 or fewer"),
    ],
)  # fmt: skip
def test_what_has_no_figures_is_refused(text, sentence):
    assert sentence in refused(text)
