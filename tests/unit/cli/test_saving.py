"""Output files of commands, and rows as Markdown; `packages/cwli` tests the other forms."""

import os
import stat

import pytest
from click.testing import CliRunner

from tidemark.cli import dashboard
from tidemark.cli.saving import save, show
from tidemark.model.refusal import Refused


@pytest.mark.parametrize("name", ["x.pdf", "x.md"])
def test_a_page_with_the_ending_of_another_form_is_refused(name):
    error = CliRunner().invoke(dashboard.command, ["--output", name]).exception

    assert str(error) == f"--output: {name} is not a page; expected a name that ends in .html"


def test_a_file_replaces_the_old_one_and_leaves_no_other(tmp_path):
    save(tmp_path / "new" / "page.html", b"before")
    save(tmp_path / "new" / "page.html", b"after")

    assert [path.read_bytes() for path in tmp_path.glob("**/*") if path.is_file()] == [b"after"]


def test_a_link_stays_and_its_target_keeps_its_mode(tmp_path):
    kept, link = tmp_path / "kept" / "page.html", tmp_path / "page.html"
    kept.parent.mkdir()
    kept.write_bytes(b"before")
    kept.chmod(0o600)
    link.symlink_to(kept)

    save(link, b"after")

    assert link.is_symlink()
    assert (kept.read_bytes(), stat.S_IMODE(kept.stat().st_mode)) == (b"after", 0o600)


def test_a_pipe_stays_and_receives_the_content(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    save(pipe, b"after")

    assert (pipe.is_fifo(), os.read(reader, 100)) == (True, b"after")
    os.close(reader)


def test_a_failed_write_leaves_the_old_file_and_is_one_sentence(tmp_path):
    (tmp_path / "page.html").mkdir()

    with pytest.raises(Refused, match=r"/page\.html cannot be written: Is a directory"):
        save(tmp_path / "page.html", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


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
