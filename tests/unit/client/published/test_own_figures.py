"""Tables of figures that no suite describes."""

from datetime import date

import pytest

from tidemark.client.published.file_figures import figures_without_suite
from tidemark.client.published.own_figures import Known
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
        "Ingest rate: higher is better (guessed); --better says otherwise",
        "Query latency: lower is better (guessed); --better says otherwise",
        "left out: 1 column without figures, 'host'",
    ]


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


def test_characters_that_no_stored_version_has_are_replaced():
    (figure,) = found("version,date,Q1\n1:1.10~rc0,2026-01-02,5\n").figures

    assert figure.version == "1-1.10-rc0"


def test_metrics_whose_names_are_alike_stay_apart():
    names = metrics("version,date,a b,a_b,1st\n1.0,2026-01-02,5,6,7\n")

    assert len(names) == 3
    assert {"a_b", "m_1st"} < {*names}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "no table has a version or a day, and figures"),
        ("version,date,Q1\n1.0,2026-01-02,x\n", "no table has a version or a day, and figures"),
        ("version,date,unit,Q1\n1.0,2026-01-02,s,1\n1.1,2026-01-03,kB,1\n",
         "line 3: the unit of Q1 is 'kB'; expected s"),
        ("version,date," + ",".join(f"q{n}" for n in range(401)) + "\n1.0,2026-01-02"
         + ",1" * 401 + "\n", "401 metrics; expected 400 or fewer"),
    ],
)  # fmt: skip
def test_what_has_no_figures_is_refused(text, sentence):
    assert sentence in refused(text)
