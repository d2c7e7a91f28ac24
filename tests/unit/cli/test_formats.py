"""Rows as Markdown; `packages/cwli` tests the other forms."""

from tidemark.cli.saving import show


def test_markdown_aligns_numbers_right_and_escapes_markup(capsys):
    rows = [{"a|b": "1.5", "note": None}, {"a|b": "2,000", "note": "*over*\ntwo lines"}]

    show(["a|b", "note"], rows, "markdown")

    assert capsys.readouterr().out.splitlines() == [
        "| a\\|b | note |",
        "|--:|---|",
        "| 1.5 |  |",
        "| 2,000 | \\*over\\* two lines |",
    ]


def test_control_characters_are_shown_as_escapes(capsys):
    show(["a"], [{"a": "\x1b[2Jgone \u202eright\x9b"}], "markdown")
    output = capsys.readouterr().out.replace("\\\\", "\\").replace("\\[", "[")
    assert r"\u001b[2Jgone \u202eright\u009b" in output


def test_other_forms_are_those_of_cwli(capsys):
    show(["a"], [{"a": "1"}], "csv")
    assert capsys.readouterr().out == "a\n1\n"
