"""``tidemark publish``: the shipped templates over stored results, and what it refuses."""

import re

import pytest
from click.testing import CliRunner

from tests.checks import documents
from tests.checks.documents import ENGINE, FOLDER, NAMES, publish
from tidemark.cli import publish as publishing
from tidemark.model.refusal import Refused

# The settings of a suite change with its file.
_SETTING = re.compile(
    r"^\| (?:Suite|Tidemark|Parameter|Axis|Load|Task|Service|Package|Seed)\b.*\n", re.MULTILINE
)


_FIGURE = re.compile(r"[+−]?[\d.,/]+ ?%?")
_NAMES = f"---\nsuite: rocksdb\nx: {ENGINE}/9.8.4 against {ENGINE}/8.8.1\n---\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("documents")


@pytest.fixture(scope="module")
def state(folder):
    return documents.store(folder)


@pytest.mark.parametrize("template", NAMES)
def test_the_documentation_has_the_output_of_each_template(state, folder, template):
    publish(state, template, folder, folder / "published")

    text = (folder / "published" / f"{template}.md").read_text(encoding="utf-8")
    known = (FOLDER / f"{template}.md").read_text(encoding="utf-8")
    assert _SETTING.sub("", text) == _SETTING.sub("", known), (
        "python -m tests.checks.documents writes the output"
    )
    pictures = re.findall(r"\]\((graphs/[^)]+)\)", text)
    assert len(pictures) == {"comparison": 1, "load": 10}.get(template, 0)
    for picture in pictures:
        assert (folder / "published" / picture).read_bytes().startswith(b"\x89PNG")
        assert (FOLDER / picture).is_file()


def test_a_page_has_every_graph_of_each_test_and_database_in_one_file(state, folder):
    publish(state, "load", folder, folder / "load.html", whole=True)

    page = (folder / "load.html").read_text(encoding="utf-8")
    assert "<h1>Performance comparison of a release candidate with the last release</h1>" in page
    assert page.count("<figure") == 2 * 2 * 10
    assert "16.86% more" in page


def test_each_figure_of_the_five_documents_is_in_the_output_digit_for_digit():
    text = (FOLDER.parent / "five-documents.md").read_text(encoding="utf-8")
    for part in text.split("\n## ")[1:]:
        outputs = re.findall(r"\]\(published/(\w+\.md)\)", part)
        published = "".join((FOLDER / name).read_text(encoding="utf-8") for name in outputs)
        figures = [each for each in re.findall(r"`([^`]+)`", part) if _FIGURE.fullmatch(each)]
        assert bool(figures) == (outputs not in ([], ["baseline.md"])), part
        assert [each for each in figures if each not in published] == []


def test_the_caption_of_each_graph_of_api_times_has_the_limit_of_the_coordinator():
    text = (FOLDER / "load.md").read_text(encoding="utf-8")
    captions = re.findall(r"!\[(latency_\w+) of .*? over time\. The limit is ([\d,]+)[,.]", text)

    assert captions == [("latency_mean", "100"), ("latency_p99", "2,000")]
    assert text.count("![latency_") == len(captions)


def test_flame_graphs_are_a_page_beside_the_document(state, folder):
    document = folder / "flames.md"
    document.write_text("---\nsuite: rocksdb\n---\n{{flames: l.i1}}\n")

    documents.invoke(state, "publish", document, "--output", folder / "flames")

    text = (folder / "flames" / "flames.md").read_text(encoding="utf-8")
    assert text == "[Flame graphs of l.i1](flames-l.i1.html)\n"
    page = (folder / "flames" / "flames-l.i1.html").read_text(encoding="utf-8")
    assert "<h2>2023-05-29</h2>" in page


def test_pictures_elsewhere_have_an_address(state, folder):
    document = folder / "doc.md"
    document.write_text(f"{_NAMES}{{{{chart: Changes}}}}\n")
    address = ("--pictures-at", "https://x.example/a/")

    documents.invoke(state, "publish", document, "--output", folder / "posted", *address)

    text = (folder / "posted" / "doc.md").read_text(encoding="utf-8")
    assert "](https://x.example/a/graphs/" in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "{{tabel x: y}}",
            "there is no field 'tabel'; there are answer, verdicts, setup, comments",
        ),
        ("{{verdicts y}}", "DOC.md: nothing is named 'y'; there are suite, x"),
        ("{{table x: Resluts}}", "there is no table 'Resluts'; there are Changes from 8.8.1 to"),
        ("{{table x}}", "the field 'table' needs a text, as in {{table: …}}"),
        ("a {{verdicts x}}", "the field 'verdicts' stands within a line; expected it on a line of"),
        ("a {{mean x: rate of 1}}", "there is no figure 'rate of 1'; there are ingest_rate of"),
        ("{{history: rate}}", "rocksdb has no figure 'rate'; there are none"),
        ("{{functions: next}}", "DOC.md: 'next' is not accepted; expected TEST: NAME, NAME"),
        ("{{}}", "'' is not a field; expected {{KIND NAME: TEXT}}"),
    ],
)
def test_a_field_that_names_nothing_is_refused_with_the_accepted_names(
    state, folder, text, sentence
):
    document = folder / "wrong.md"
    document.write_text(f"{_NAMES}{text}\n")
    words = [document, "--output", folder / "wrong", "--state", state]

    done = CliRunner().invoke(publishing.command, [*map(str, words)])

    assert isinstance(done.exception, Refused), done.output
    assert str(done.exception).startswith(sentence)
    assert not (folder / "wrong").exists()
