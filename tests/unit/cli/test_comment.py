"""``tidemark comment``: files and editors, and what is refused."""

from contextlib import contextmanager
from datetime import date

import click
import pytest
from click.testing import CliRunner

from tests.plans import RUN
from tests.unit.measured_runs import bucket_of, ingest_of, planned
from tidemark.cli import comment
from tidemark.client.deployed import Stored
from tidemark.model.refusal import Refused
from tidemark.one_machine.stored import InProcessPublisher
from tidemark.report.files import load
from tidemark.report.terminal import screen_lines
from tidemark.store import keys
from tidemark.store.run_objects import find_report, read_comments

RATES = {"9.0.0": [1000.0] * 5, "9.8.4": [800.0] * 5}


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    plan = planned(list(RATES), repetitions=5)
    bucket = bucket_of(plan, ingest_of(plan, RATES))

    @contextmanager
    def stored(_target):
        yield Stored(bucket, None, InProcessPublisher(bucket))

    monkeypatch.setattr(comment, "stored", stored)
    monkeypatch.chdir(tmp_path)
    return bucket


def invoke(*words):
    done = CliRunner().invoke(comment.command, [*words])
    if isinstance(done.exception, Refused):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_file_becomes_a_comment_with_its_heading_as_title(bucket, tmp_path):
    (tmp_path / "said.md").write_text("# Slower # \n\nIt is **slower**. <!-- a remark -->\n")

    paths = invoke(RUN, "--file", "said.md", "--author", "Ada", "--day", "2026-11-27").split()

    (said,) = read_comments(bucket, RUN)
    assert (said.title, said.author, said.day) == ("Slower", "Ada", date(2026, 11, 27))
    assert said.text == "It is **slower**."
    assert paths[0].endswith(keys.report("rocksdb", RUN, "report.md"))


def test_a_comment_is_printed_on_a_terminal_with_its_author(bucket, tmp_path):
    from rich.console import Console  # noqa: PLC0415

    (tmp_path / "said.md").write_text("It is **slower**.")
    invoke(RUN, "--file", "said.md", "--title", "Slower", "--author", "Ada", "--day", "2026-11-27")

    blocks = find_report(bucket, "rocksdb", RUN, f"report.{keys.BLOCKS}")
    lines = screen_lines(load(blocks), Console(width=80))
    at = lines.index("Comments by people")
    assert lines[at + 2 : at + 7 : 2] == ["Slower", "Ada, 2026-11-27", "It is slower."]


def test_an_editor_offers_the_figures_to_quote(bucket, monkeypatch):
    offered = []

    def edit(text, **_):
        offered.append(text)
        return text.replace("# ", "# Slower", 1) + "At {{mean ingest_rate of 9.8.4 = 800}}."

    monkeypatch.setattr(click, "edit", edit)
    invoke(RUN)

    assert "{{change ingest_rate of 9.8.4 = −20.00 %}}" in offered[0]
    (said,) = read_comments(bucket, RUN)
    assert (said.title, said.text) == ("Slower", "At {{mean ingest_rate of 9.8.4 = 800}}.")


def test_every_printed_quote_is_accepted(bucket, tmp_path):
    (tmp_path / "said.md").write_text(invoke(RUN, "--quotes"))

    invoke(RUN, "--file", "said.md", "--title", "All figures")

    assert read_comments(bucket, RUN)[0].quotes


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("x", (RUN,), "--title: the text begins with no heading; expected a title"),
        ("# x", (RUN,), "FILE: the comment is empty; nothing is stored"),
        ("x", (RUN, "--title", "a\nb"), "title: 'a\\nb' is not accepted; expected a text of"),
        ("x", ("a", "b", "c"), "RUN: a, b, c is not accepted; expected a run, or BASE NEW"),
        ("# x\n\n{{x}}", (RUN,), "'x' is not a quoted figure; expected {{mean METRIC of VERSION"),
    ],
)
def test_a_mistake_is_one_sentence_and_stores_nothing(bucket, tmp_path, text, words, sentence):
    (tmp_path / "said.md").write_text(text)

    with pytest.raises(Refused) as refused:
        invoke(*words, "--file", "said.md")

    assert str(refused.value).startswith(sentence)
    assert read_comments(bucket, RUN) == []


def test_a_text_that_its_editor_did_not_save_is_refused(bucket, monkeypatch):
    monkeypatch.setattr(click, "edit", lambda *_, **__: None)

    with pytest.raises(Refused, match=r"^the text was not saved; nothing is stored$"):
        invoke(RUN)
    assert read_comments(bucket, RUN) == []
