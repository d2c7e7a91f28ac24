"""Pages with a column for each version, as Mattermost's developers publish them."""

from datetime import date

import pytest

from tidemark.client.published.file_figures import contradictions, file_figures
from tidemark.client.published.release_tables import Wishes
from tidemark.figures.version_rates import change
from tidemark.model.checkout import ROOT
from tidemark.model.numerals import percent
from tidemark.model.publication import find_publication
from tidemark.model.refusal import Refused

PUBLICATION = find_publication(ROOT, "mattermost")
WISHES = Wishes(tested_on=date(2025, 3, 10))
# The versions, and for each database the users of both with the printed change.
COMPARISONS = [
    ("v8.0.1", "v8.1.0-rc1", (18158, 18266, "0.59%"), (19906, 19904, r"\-0.01%")),
    ("v8.1.2", "v9.0.0-rc2", (11745, 12813, "9.09%"), (11383, 12745, "11.97%")),
    ("v9.0.0", "v9.1.0-rc1", (12229, 12172, r"\-0.47%"), (12261, 12213, r"\-0.39%")),
    ("v9.1.0", "v9.2.0-rc1", (10588, 10220, r"\-3.48%"), (10571, 10690, "1.13%")),
    ("v9.3.0", "v9.4.0-rc3", (10616, 11219, "5.68%"), (10992, 11606, "5.59%")),
    ("v9.4.0", "v9.5.0-rc1", (8780, 7889, r"\-10.15%"), (11478, 10377, r"\-9.59%")),
    ("v9.5.1", "v9.6.0-rc1", (9230, 9219, r"\-0.12%"), (11330, 11292, r"\-0.34%")),
    ("v9.6.1", "v9.7.0-rc1", (9213, 8890, r"\-3.51%"), (11992, 12311, "2.66%")),
    ("v9.7.0", "v9.8.0-rc2", (9545, 9548, "0.03%"), (12466, 12403, r"\-0.51%")),
    ("v9.8.0", "v9.9.0-rc3", (9128, 9135, "0.08%"), (12064, 12028, r"\-0.30%")),
    ("v9.9.0", "v9.10.0-rc1", (9330, 9429, "1.06%"), (12546, 11987, r"\-4.46%")),
    ("v9.10.0", "v9.11.0-rc2", (10356, 9979, r"\-3.64%"), (12086, 12228, "1.17%")),
    ("v9.11.0", "v10.0.0-rc2", (11137, 11087, r"\-0.45%"), (13223, 12832, r"\-2.96%")),
    ("v10.0.0", "v10.1.0-rc1", (10081, 10652, r"\+5.66%"), (13185, 13967, r"\+5.93%")),
    ("v10.1.0", "v10.2.0-rc2", (10117, 10847, "7.22%"), (13408, 13799, "2.92%")),
    ("v10.2.0", "v10.3.0-rc1", (7696, 7933, "3.08%"), (8323, 8638, "3.78%")),
    ("v10.3.0", "v10.4.0-rc1", (7097, 7126, "0.41%"), (6537, 6934, "6.07%")),
    ("v10.4.0", "v10.5.0-rc1", (7746, 7970, "2.89%"), (7064, 7247, "2.59%")),
    ("v10.5.0", "v10.6.0-rc3", (8552, 9994, "16.86%"), (8682, 10045, "15.70%")),
    ("v10.6.1", "v10.7.0-rc1", (16347, 16301, r"\-0.28%"), (17504, 17310, r"\-1.11%")),
    ("v10.7.0", "v10.8.0-rc1", (16045, 16224, "1.12%"), (17339, 17639, "1.73%")),
    ("v10.8.1", "v10.9.0-rc2", (8044, 8048, "0.05%"), (7805, 7593, r"\-2.72%")),
    ("v10.10.1", "v10.11.0-rc2", (15607, 15946, "2.17%"), (16177, 16286, "0.67%")),
    ("v10.11.2", "v10.12.0-rc1", (15449, 15409, r"\-0.26%"), (16390, 16675, "1.74%")),
]


def page(base, new, mysql, postgres, more=""):
    rows = [("MySQL", *mysql), ("Postgres", *postgres)]
    table = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
    return f"# Comparison\n\n| Test | {base} | {new} | Delta |\n|---|---|---|---|\n{table}\n{more}"


def figures(text):
    return file_figures(text, PUBLICATION, WISHES)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda each: each[1])
def test_each_published_change_is_that_of_the_figures_of_its_row(comparison):
    text = page(*comparison)
    found = {(each.version, each.metric.name): each.amount.value for each in figures(text)}

    base, new = (version.removeprefix("v") for version in comparison[:2])
    for name, (_, _, printed) in zip(("mysql", "postgres"), comparison[2:], strict=True):
        metric = f"supported_users {{database: {name}}}"
        changed = percent(change(found[base, metric], found[new, metric]))
        assert changed.replace("\N{MINUS SIGN}", "-").replace(" ", "") == printed.lstrip("\\+")
    assert list(contradictions(text, figures(text))) == []


def test_a_change_that_does_not_follow_is_named_with_its_line():
    text = page("v1.0", "v1.1", (100, 110, "11%"), (100, 90, r"\-10%"))

    assert list(contradictions(text, figures(text))) == [
        "line 5: the change from 100 to 110 is 10 %, not 11%"
    ]


def test_a_table_of_other_rows_is_left_out():
    errors = (
        "\n| Test | v1.0 | v1.1 | Delta |\n|---|---|---|---|\n| Bounded MySQL | 3 | 4 | 33% |\n"
    )

    assert len(figures(page("v1.0", "v1.1", (100, 110, ""), (100, 90, ""), errors))) == 4


def test_a_missing_figure_is_none():
    (one, two, three) = figures(page("v1.0", "v1.1", (100, "n/a", "-"), (100, 90, "")))

    assert [each.amount.text for each in (one, two, three)] == ["100", "100", "90"]


def test_two_rows_of_one_figure_are_refused():
    text = page("v1.0", "v1.1", (100, 110, ""), (100, 90, ""), "| PostgreSQL | 1 | 2 | |\n")

    with pytest.raises(Refused, match=r"^FILE: line 3: 'PostgreSQL' is a second column of "):
        figures(text)


def nameless(base, new, before, after, printed, over="Supported users in unbounded test"):
    row = f"| {before} | {after} | {printed} |"
    return f"### {over}\n\n| {base} | {new} | Delta |\n|---|---|---|\n{row}\n"


@pytest.mark.parametrize(
    ("base", "new", "before", "after", "printed"),
    [
        ("v10.12.0", "v11.0.1-rc2", 17272, 17040, r"\-1.34%"),
        ("v11.0.4", "v11.1.0-rc2", 16997, 16378, r"\-3.64%"),
        ("v11.1.1", "v11.2.0-rc2", 17307, 16853, r"\-2.62%"),
        ("v11.2.0", "v11.3.0-rc1", 15641, 15389, r"\-1.61%"),
        ("v11.3.0", "v11.4.0-rc2", 16621, 16575, "-0.28%"),
        ("v10.11.17", "v11.7.1", 16392, 17273, "+5.37%"),
        ("v11.6.1", "v11.7.0-rc2", 17202, 17048, r"\-0.90%"),
        ("v11.7.1", "v11.8.0-rc3", 15936, 16781, "+5.30%"),
    ],
)
def test_a_table_of_nothing_but_versions_has_the_figure_of_the_heading_over_it(
    base, new, before, after, printed
):
    text = nameless(base, new, before, after, printed)

    assert [(each.version, each.metric.name, each.amount.value) for each in figures(text)] == [
        (version.removeprefix("v"), "supported_users {database: postgres}", users)
        for version, users in ((base, before), (new, after))
    ]
    assert list(contradictions(text, figures(text))) == []
    wrong = nameless(base, new, before, after, "7%")
    assert len(list(contradictions(wrong, figures(wrong)))) == 1


def test_a_table_of_nothing_but_versions_under_another_heading_is_left_out():
    errors = nameless("v1.0", "v1.1", 3, 4, "33%", "Number of errors")

    assert len(figures(page("v1.0", "v1.1", (100, 110, ""), (100, 90, "")) + errors)) == 4


def test_two_rows_of_a_table_without_names_are_refused():
    text = nameless("v1.0", "v1.1", 3, 4, "33%") + "| 5 | 6 | 20% |\n"

    with pytest.raises(Refused, match="is a second column of supported_users"):
        figures(text)


def test_a_row_of_one_of_several_runs_has_its_number_as_an_axis():
    (first, second, third) = (15489, 19913, "28.56%"), (15476, 16283, "5.21%"), (17664, 17837, "")
    rows = [("MySQL (run 1)", first), ("MySQL (run 3)", second), ("Postgres (run 2)", third)]
    lines = "\n".join(f"| {name} | {b} | {n} | {printed} |" for name, (b, n, printed) in rows)
    text = f"| Test | v7.10.0 | v8.0.0-rc1 | Delta |\n|---|---|---|---|\n{lines}\n"

    found = {(each.version, each.metric.name): each.amount.value for each in figures(text)}

    assert found["8.0.0-rc1", "supported_users {database: mysql, run: 3}"] == 16283
    assert len(found) == 6
    assert list(contradictions(text, figures(text))) == []


def test_tables_under_headings_of_runs_have_their_numbers_as_an_axis():
    def table(number, before, after):
        head = f"####  Run {number}\n\n| Test | v9.11.16 | v10.5.7 | Delta |\n|---|---|---|---|\n"
        return f"{head}| MySQL | {before} | {after} | |\n| Delta | 7.37% | 5.84% | |\n\n"

    found = figures(table(1, 14186, 16007) + table(2, 14989, 16371))

    assert [(each.version, each.metric.axes["run"], each.amount.value) for each in found] == [
        ("9.11.16", "1", 14186), ("10.5.7", "1", 16007),
        ("9.11.16", "2", 14989), ("10.5.7", "2", 16371),
    ]  # fmt: skip
