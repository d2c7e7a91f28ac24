"""Files as people publish them, with the figures that they have."""

from datetime import date

import pytest

from tests.checks.conformance.figures import SLEEPER
from tidemark.client.published.file_figures import (
    contradict,
    file_figures,
    left_out,
    printed_rate,
    published_figures,
)
from tidemark.client.published.release_tables import Wishes
from tidemark.client.published.tables import page_context
from tidemark.model.checkout import ROOT
from tidemark.model.publication import find_publication, measured_publication
from tidemark.model.refusal import Refused
from tidemark.model.suite_files import read_suites

PUBLICATION = find_publication(ROOT, "sleeper")
HEADINGS = "| Version number | Test date | Compaction rate (records/s) |\n|---|---|---|\n"


def figures(text, **wishes):
    return [
        (each.version, each.tested_on.isoformat(), each.metric.metric, each.amount.text, each.line)
        for each in file_figures(text, PUBLICATION, Wishes(**wishes))
    ]


def refused(text, **wishes):
    with pytest.raises(Refused) as caught:
        file_figures(text, PUBLICATION, Wishes(**wishes))
    return str(caught.value).removeprefix("FILE: ")


def day(iso):
    return "/".join(reversed(iso.split("-")))


def test_the_table_of_sleepers_page_has_every_figure():
    rows = [f"| {v} | {day(d)} | {c} | {i} |" for v, (d, c, i) in SLEEPER.items()]
    page = "\n".join([
        "Benchmarks", "==========", "",
        "| Version number | Test date | Compaction rate (records/s) | "
        "Ingest S3 write rate (records/s) |",
        "|---|---|---|---|",
        *rows, "", "A sentence.",
    ])  # fmt: skip

    assert figures(page) == [
        (version, tested_on, metric, text, line)
        for line, (version, (tested_on, *both)) in enumerate(SLEEPER.items(), start=6)
        for metric, text in zip(("compaction_rate", "ingest_rate"), both, strict=True)
    ]


def test_a_later_page_has_more_columns_thousands_separators_and_missing_cells():
    page = (
        "| Version number | Test date | Java compaction | DataFusion compaction "
        "| Standard ingest |\n|-----|-----|-----|-----|-----|\n"
        "| 0.26.0      | 11/11/2024 | 311,350         |                       | 160,701         |\n"
        "| 0.28.0      | 31/01/2025 | 257,867         | 1,315,716             | 156,950         |\n"
    )

    assert figures(page) == [
        ("0.26.0", "2024-11-11", "compaction_rate", "311,350", 3),
        ("0.26.0", "2024-11-11", "ingest_rate", "160,701", 3),
        ("0.28.0", "2025-01-31", "compaction_rate", "257,867", 4),
        ("0.28.0", "2025-01-31", "compaction_rate", "1,315,716", 4),
        ("0.28.0", "2025-01-31", "ingest_rate", "156,950", 4),
    ]
    engines = [figure.metric.axes["engine"] for figure in file_figures(page, PUBLICATION, Wishes())]
    assert engines == ["java", "java", "java", "datafusion", "java"]


def test_the_newest_page_has_bulk_imports_on_two_platforms_and_cells_without_a_figure():
    page = (
        "| Version number | Test date | Java compaction | EMR bulk import | EKS bulk import |\n"
        "|-----|-----|-----|-----|-----|\n"
        "| 0.35.3         | 06/05/2026 | 224,064         | 3,500,007       |                 |\n"
        "| 0.36.0         | 14/06/2026 | 188,225         |                 | 4,581,912       |\n"
    )

    assert [figure[:4] for figure in figures(page)] == [
        ("0.35.3", "2026-05-06", "compaction_rate", "224,064"),
        ("0.35.3", "2026-05-06", "bulk_import_rate", "3,500,007"),
        ("0.36.0", "2026-06-14", "compaction_rate", "188,225"),
        ("0.36.0", "2026-06-14", "eks_bulk_import_rate", "4,581,912"),
    ]


def test_markup_is_no_part_of_a_cell():
    page = (
        "**Release** | _Date_ | `Compaction rate` [rows per second] | Remarks\n"
        ":-- | --- | --: | ---\n"
        "[v0.11.0](https://x.org/a\\|b) | **13 June 2022** | **366000**<sup>1</sup> | slow\\|er\n"
        "0.12.0 | 18 Oct 2022 | 378000[^1] | <br>\n\n[^1]: On x86.\n"
    )

    assert figures(page) == [
        ("0.11.0", "2022-06-13", "compaction_rate", "366000", 3),
        ("0.12.0", "2022-10-18", "compaction_rate", "378000", 4),
    ]


def test_every_table_of_a_page_is_read_and_those_without_figures_are_left_out():
    other = "| Setting | Default |\n|---|---|\n| writers | 11 |\n\n"
    code = f"```\n{HEADINGS}| 9.9.9 | 2022-01-01 | 1 |\n```\n\n"
    second = "| Version | Date | Ingest rate |\n|---|---|---|\n| 0.11.0 | 13/06/2022 | 160000 |\n"
    page = f"{other}{code}{HEADINGS}| 0.11.0 | 13/06/2022 | 366000 |\n\n## Ingest\n\n{second}"

    assert [figure[2:4] for figure in figures(page)] == [
        ("compaction_rate", "366000"), ("ingest_rate", "160000"),
    ]  # fmt: skip


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separated_values_are_read_with_any_separator(separator):
    rows = [["Version", "Date", "compaction_rate"], ["0.11.0", "2022-06-13", '"366000"']]
    text = "\ufeff" + "\r\n".join(separator.join(row) for row in rows)

    assert figures(text) == [("0.11.0", "2022-06-13", "compaction_rate", "366000", 2)]


def test_the_user_may_give_the_version_and_the_day_of_a_table_without_them():
    text = "compaction_rate,ingest_rate\n366000,160000\n"

    found = figures(text, version="0.11.0", tested_on=date(2022, 6, 13))

    assert [figure[:2] for figure in found] == [("0.11.0", "2022-06-13")] * 2


@pytest.mark.parametrize(
    "heading",
    [
        "Compaction",
        "Java compaction (rows/s)",
        "Java compaction rate (records/s/)",
        "COMPACTION RATE [records per second]",
    ],
)
def test_a_heading_may_be_shorter_or_have_the_unit_in_other_words(heading):
    page = f"| Release | Tested on | {heading} |\n|---|---|---|\n| 0.11.0 | 2022-06-13 | 366000 |\n"

    assert [figure[2] for figure in figures(page)] == ["compaction_rate"]


def test_what_counts_for_nothing_is_named_with_its_number():
    other = "| Setting | Default |\n|---|---|\n| writers | 11 |\n\n"
    headings = f"| Version | Date | Compaction | Ingest | Remarks | By |\n|{'---|' * 6}\n"
    row = "| 0.11.0 | 2022-06-13 | 366000 | {} | none | me |\n"
    page = other + other + headings + row.format("n/a") + row.format("NaN")

    assert list(left_out(page, PUBLICATION, Wishes())) == [
        "2 tables without a metric of Sleeper, in lines 1, 5",
        "2 columns without a metric, 'Remarks', 'By'",
        "2 cells without a figure",
        "1 figure that the file has before",
    ]
    assert list(left_out(HEADINGS + "| 1.0 | 2022-06-13 | 366000 |\n", PUBLICATION, Wishes())) == []


def test_a_figure_that_stands_twice_counts_once():
    row = "| 0.11.0 | 2022-06-13 | 366000 |\n"

    assert len(figures(HEADINGS + row + row)) == 1


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n| 0.11.0 | 2022-06-13 | 366001 |\n",
         "line 4: 0.11.0 compaction_rate {engine: java} of 2022-06-13 is 366001, and 366000 in "
         "line 3; expected one figure"),
        (f"{HEADINGS}| 0.11.0 | 06/01/2022 | 366000 |\n",
         "line 3: 06/01/2022 may be 2022-01-06 or 2022-06-01; --dates day-first or --dates "
         "month-first says which"),
        (f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366.000 |\n",
         "line 3: compaction_rate: '366.000' may be 366000 or 366.0000; write one of them, or say "
         "--decimal . or --decimal ,"),
        (f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 | 160000 |\n",
         "line 3: the row has more cells than the 3 headings"),
        (f"{HEADINGS}| latest | 2022-06-13 | 366000 |\n",
         "line 3: 'latest' is not a version; expected one such as 0.11.0"),
        (f"{HEADINGS}| 0.11.0 |  | 366000 |\n",
         "line 3: '' is not a day; expected the form of 2022-06-13, 13/06/2022 or 13 June 2022"),
        ("Version | Date | Compaction rate (MB/s)\n---|---|---\n0.11.0 | 2022-06-13 | 36\n",
         "line 1: the unit of 'Compaction rate (MB/s)' is 'MB/s'; expected records/s"),
        ("| Version | Compaction rate |\n|---|---|\n| 0.11.0 | 36 |\n",
         "line 1: the table has no column for the date; its headings are 'Version', 'Compaction "
         "rate'; --date gives one for all rows"),
        ("| Version | Tag | Compaction rate |\n|---|---|---|\n| 0.11.0 | 1 | 36 |\n",
         "line 1: 'Version', 'Tag' have the same meaning; leave one out with --leave-out"),
        ("| Version | Java compaction | Compaction rate |\n|---|---|---|\n| 0.11.0 | 1 | 36 |\n",
         "line 1: 'Compaction rate' is a second column of compaction_rate"),
        ("nothing\n", "no table has figures of Sleeper; expected columns such as Version number, "
         "Test date and Compaction rate, DataFusion compaction, Ingest S3 write rate, EMR bulk "
         "import, EKS bulk import, Compaction total rate, Ingest total rate"),
    ],
)  # fmt: skip
def test_what_is_ambiguous_is_refused_with_its_line(page, sentence):
    assert refused(page) == sentence


@pytest.mark.parametrize("text", ["[" * 100_000, f"[{'9' * 5000}]"])
def test_json_that_cannot_be_read_has_no_figures(text):
    assert refused(text).startswith("no table has figures of Sleeper")


def test_a_cell_that_is_too_long_is_refused_with_its_line():
    text = f"Version,Date,Ingest rate\n0.11.0,2022-06-13,{'1' * 200_000}\n"

    assert refused(text) == "line 2: field larger than field limit (131072)"


def test_an_unknown_column_of_figures_is_refused_unless_it_is_left_out():
    page = (
        "| Version | Date | Compaction rate | Query rate |\n|---|---|---|---|\n"
        "| 0.11.0 | 2022-06-13 | 366000 | 7 |\n"
    )

    assert refused(page).startswith(
        "line 1: the column 'Query rate' has figures and is not a metric of Sleeper; known are "
    )
    assert len(figures(page, left_out=["Query rate"])) == 1


def test_the_one_of_two_columns_of_one_meaning_that_is_left_out_does_not_count():
    page = (
        "| Version | Tag | Date | Compaction rate |\n|---|---|---|---|\n"
        "| 1.0 | 2 | 2022-06-13 | 36 |\n"
    )

    assert figures(page, left_out=["Tag"]) == [("1.0", "2022-06-13", "compaction_rate", "36", 3)]


def test_a_heading_that_no_table_has_cannot_be_left_out():
    sentence = refused(f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n", left_out=["Querry rate"])

    assert sentence == "--leave-out: no table of FILE has the heading 'Querry rate'"


def test_an_unknown_column_is_refused_too_where_the_user_gives_the_version():
    page = "Date,Compaction rate,Query rate\n2022-06-13,366000,7\n"

    assert refused(page, version="0.36.0").startswith("line 1: the column 'Query rate' has figures")


def test_a_table_of_days_and_unknown_figures_is_refused_beside_a_table_with_known_ones():
    known = f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n\n"
    other = "| Version | Date | Query rate |\n|---|---|---|\n| 0.11.0 | 2022-06-13 | 7 |\n"

    assert refused(known + other).startswith("line 5: the column 'Query rate' has figures and is")


def test_a_table_of_versions_without_figures_of_the_suite_counts_for_nothing():
    java = "| Version | Java |\n|---|---|\n| 0.11.0 | 17 |\n\n"

    assert len(figures(f"{java}{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n")) == 1


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"version": "0.36.0"}, "--version: 0.36.0"),
        ({"tested_on": date(2022, 6, 13)}, "--date: 2022-06-13"),
    ],
)
def test_an_option_for_a_column_that_every_table_has_is_refused(option, named):
    sentence = refused(f"{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n", **option)

    assert sentence == f"{named} has no effect: every table of FILE has a column for it"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a\x0cb\u2028c\r\n\r\n{HEADINGS}| 0.11.0 | 2022-06-13 | 366000 |\n", 5),
        ("Version,Date,Ingest\x0c rate\n0.11.0,2022-06-13,1", 2),
    ],
)
def test_a_form_feed_ends_no_line(text, line):
    assert [figure[-1] for figure in figures(text)] == [line]


def test_a_page_keeps_its_setup_and_its_links():
    page = (
        "# Results\n\nSee [the release](https://example.org/1.0) and [below](#setup).\n\n"
        "## Test setup\n\nTwo `m5.large` instances.\n\n- MySQL 8.0\n\n### Network\n\nOne zone.\n\n"
        "## Figures\n\nTables of [the release](https://example.org/1.0).\n\n"
        "| Version | Date |\n|---|---|\n| 1.0 | 2026-01-01 |\n"
    )

    assert page_context(page) == (
        "Two m5.large instances. MySQL 8.0 One zone.",
        ("https://example.org/1.0",),
        {},
    )
    assert page_context("version,date\n1.0,2026-01-01\n") == ("", (), {})


def test_a_page_keeps_the_settings_of_its_setup_and_the_names_of_its_links():
    page = (
        "## Setup\n\n| Setting | Value |\n|---|---|\n"
        "| Load-test version | [`v1.25.0`](https://example.org/v1) |\n"
        "| App instances | 2 x c7i |\n\n"
        "## Results\n\n### Grafana\n\n- [Bounded - MySQL](https://example.org/b)\n"
        "- See [the rest](https://example.org/r).\n\n"
        "| Version | Users |\n|---|---|\n| 1.0 | 8552 |\n"
    )

    assert page_context(page).settings == {
        "Load-test version": "v1.25.0 https://example.org/v1",
        "App instances": "2 x c7i",
        "Grafana: Bounded - MySQL": "https://example.org/b",
    }


LISTED = """The average results are:

    - Client: t2.micro in us-east-1a
    - Server: t3.medium
- 35000 test execution results/hour
- 71500 API calls/hour
- 19 requests/second
- 50 ms/request
- 12 turtles/hour
"""


def test_a_list_of_rates_is_a_table_of_the_metrics_that_they_end_with():
    kiwi = measured_publication(read_suites()["kiwi"])
    wishes = Wishes(version="10.0", tested_on=date(2021, 2, 10))

    found = published_figures(LISTED, kiwi, wishes)

    assert [(each.metric.metric, each.amount.text) for each in found.figures] == [
        ("results_per_hour", "35000"),
        ("calls_per_hour", "71500"),
        ("requests_per_second", "19"),
        ("time_per_request", "50"),
    ]
    assert {each.line for each in found.figures} == {5}
    assert page_context(LISTED).settings == {
        "Client": "t2.micro in us-east-1a", "Server": "t3.medium"
    }  # fmt: skip


HOURLY = printed_rate("71,500", "calls/h")


@pytest.mark.parametrize(
    ("digits", "unit"), [("19.9", "calls/s"), ("50.3", "ms/call"), ("50", "ms/call")]
)
def test_the_rate_of_kiwi_is_the_same_in_each_unit(digits, unit):
    assert not contradict(HOURLY, printed_rate(digits, unit))


@pytest.mark.parametrize(
    ("digits", "unit"), [("19", "calls/s"), ("19.7", "calls/s"), ("51.3", "ms/call")]
)
def test_a_rate_that_no_rounding_explains_is_a_contradiction(digits, unit):
    assert contradict(HOURLY, printed_rate(digits, unit))


def test_the_calls_are_told_apart_by_their_noun():
    assert printed_rate("35000", "results/h").noun == "result"
    assert HOURLY.noun == printed_rate("50.3", "ms/call").noun == "request"


@pytest.mark.parametrize(
    ("digits", "unit"), [("7", "ms"), ("7", "B"), ("1.3M", "calls/s"), ("0", "calls/s")]
)
def test_other_figures_are_no_rate_of_calls(digits, unit):
    assert printed_rate(digits, unit) is None
