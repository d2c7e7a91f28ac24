"""Comments of people: their form, their place in reports and comparisons, and what they quote."""

import json
from datetime import date

import pytest
from pydantic import ValidationError

from tests.plans import RUN
from tests.unit.measured_runs import HOSTILE, bucket_of, ingest_of, planned
from tidemark.cli.comment import HEADING, add, commented_run, commented_sides, written
from tidemark.client.deployed import Stored
from tidemark.model.comment import Comment, Quote, quote
from tidemark.model.refusal import Refused
from tidemark.one_machine.stored import InProcessPublisher
from tidemark.report.blocks import Said
from tidemark.report.comments import Filler
from tidemark.store import keys
from tidemark.store.run_objects import exclude, read_comments
from tidemark.store.stored_plan import read_plan

BOTH = ["9.0.0", "9.8.4"]
RATES = [1000.0, 1010.0, 990.0, 1000.0, 1005.0]
TEXT = """Ingest is {{change ingest_rate of 9.8.4 = −20.0 %}}, see [the ticket](https://x.example/1).

## Next steps

- Bisect it.
"""


@pytest.fixture
def store():
    """The results of a run in which the last version is a fifth slower."""
    plan = planned(BOTH, repetitions=5, baseline="9.0.0")
    slower = [0.8 * rate for rate in RATES]
    bucket = bucket_of(plan, ingest_of(plan, {"9.0.0": RATES, "9.8.4": slower}))
    return Stored(bucket, None, InProcessPublisher(bucket))


def comment_of(commented, text=TEXT, folder=None, **fields):
    """Return a comment with a text of Markdown."""
    given = {"title": "Ingest is slower", "author": "Ada", "day": date(2026, 11, 28), **fields}
    own = written(text, folder, HEADING)
    return Comment(
        text=own.text, html=own.html, images=own.images, version=commented.version,
        base=commented.base, **given,
    )  # fmt: skip


def on_run(store, text=TEXT, folder=None, **fields):
    """Store a comment on the run."""
    commented = commented_run(store.bucket, read_plan(store.bucket, RUN))
    add(store, commented, comment_of(commented, text, folder, **fields))


def report(store, file="report.md"):
    return store.bucket.read(keys.report("rocksdb", RUN, file)).decode()


def test_a_comment_stands_first_in_the_report_of_its_run_and_in_its_comparisons(store):
    on_run(store)

    for file in ("report.md", "9.8.4-against-9.0.0.md"):
        first = report(store, file).split("\n## ")[1]
        assert first.startswith("Comments by people\n\n### Ingest is slower\n\n*Ada, 2026-11-28*")
        assert "\n##### Next steps\n" in first
        assert "Ingest is −20.0 %, see [the ticket](https://x.example/1)." in first
    assert '<a href="https://x.example/1">the ticket</a>' in report(store, "report.html")
    assert "<h5>Next steps</h5>" in report(store, "report.html")
    (said,) = json.loads(report(store, "9.8.4-against-9.0.0.json"))["comments"]
    assert (said["title"], said["author"], said["outdated"]) == ("Ingest is slower", "Ada", [])


def test_a_comment_on_a_comparison_stands_in_that_comparison_alone(store):
    commented = commented_sides(store.bucket, "rocksdb", f"{RUN}/9.0.0", f"{RUN}/9.8.4")
    add(store, commented, comment_of(commented))

    assert "### Ingest is slower" in report(store, "9.8.4-against-9.0.0.md")
    assert "Comments by people" not in report(store)


def test_a_quoted_figure_that_no_longer_holds_is_struck_out_at_the_next_rebuild(store):
    on_run(store, "It is {{verdict ingest_rate of 9.8.4 = slower}}, at {{mean ingest_rate of "
           "9.0.0 = 1,001}}.")  # fmt: skip
    assert "It is slower, at 1,001." in report(store)

    # Four pairs are too few for a verdict.
    exclude(store.bucket, RUN, 1, "noisy", excluded=True)
    store.publisher.report(RUN)

    now = "the verdict of ingest_rate of 9.8.4 is cannot tell, not slower"
    for file in ("report.md", "9.8.4-against-9.0.0.md"):
        assert f"It is ~~slower~~ ({now}), at 1,001." in report(store, file)
        assert "No longer true: 1 of 2 figures that this comment quotes." in report(store, file)
    page = report(store, "report.html")
    assert f'It is <s>slower</s> <b class="failed">({now})</b>, at 1,001.' in page
    document = json.loads(report(store, "9.8.4-against-9.0.0.json"))
    assert document["comments"][0]["outdated"] == [now]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{change ingest_rate of 9.8.4 = -3 %}}", "is −20.00 %, not -3 %"),
        ("{{mean ingest_rat of 9.8.4 = 3}}", "did you mean 'ingest_rate of 9.8.4'?"),
        ("{{ingest_rate}}", "'ingest_rate' is not a quoted figure; expected {{mean METRIC of"),
    ],
)
def test_a_quoted_figure_that_does_not_hold_is_refused(store, text, reason):
    with pytest.raises(Refused) as refused:
        on_run(store, text)

    assert reason in str(refused.value)
    assert read_comments(store.bucket, RUN) == []


@pytest.mark.parametrize(
    ("value", "figure", "holds"),
    [
        ("2.34 M ms", 2_336_000.0, True),
        ("2.34 M", 2_346_000.0, False),
        ("8,552", 8_552.4, True),
        ("0.830", 0.8306, False),
        ("158 ms", 158.2, True),
        ("158 s", 158.2, False),
        ("158 MB", 158.2, False),
        ("about 3", 3.0, False),
    ],
)
def test_a_mean_holds_in_the_digits_and_the_unit_that_are_quoted(value, figure, holds):
    assert Quote("mean", "x of 1", value).holds(figure, "ms") is holds


@pytest.mark.parametrize(
    ("value", "effect", "holds"),
    [
        ("16.86%", 0.16861, True),
        ("-0.12 %", -0.0012, True),
        ("−7.1 %", -0.0716, False),
        ("13.8 times as long", 12.8, True),
        ("0.17", 0.17, False),
    ],
)
def test_a_change_holds_as_a_percentage_or_as_times(value, effect, holds):
    assert quote(f"change x {{a: b}} of 1 = {value}").holds(effect, "ms") is holds


def test_an_image_beside_the_text_is_kept_and_shown(store, tmp_path):
    (tmp_path / "crash.png").write_bytes(b"\x89PNG")
    on_run(store, "![The crash](crash.png)", tmp_path)

    (said,) = read_comments(store.bucket, RUN)
    (name,) = said.images
    assert store.bucket.read(keys.report("rocksdb", RUN, name)) == b"\x89PNG"
    assert f"![The crash]({name})" in report(store)
    assert '<img src="data:image/png;base64,iVBORw=="' in report(store, "report.html")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("![x](gone.png)", "the image 'gone.png' is not in the folder of the text"),
        ("![x](../secret.png)", "the image '../secret.png' is outside the folder of the text"),
        ("[x](notes.txt)", "the text leads to 'notes.txt', which is neither an address"),
        ("[x](javascript:alert(1))", None),
    ],
)
def test_a_text_leads_to_addresses_and_to_images_beside_it(tmp_path, text, reason):
    if reason is None:
        assert "<a" not in written(text, tmp_path, HEADING).html
        return
    with pytest.raises(Refused, match="^" + reason):
        written(text, tmp_path, HEADING)


def test_a_document_may_link_files_beside_it(tmp_path):
    text = "## Setup\n\n[x](notes.txt)"

    assert written(text, tmp_path).text == text
    assert '<a href="notes.txt">x</a>' in written(text, tmp_path).html


@pytest.mark.parametrize("text", [HOSTILE, "a vector<int> of", "</details>"])
def test_html_in_a_text_is_refused(tmp_path, text):
    with pytest.raises(Refused, match=r"the text has HTML, .*; expected Markdown"):
        written(text, tmp_path, HEADING)


@pytest.mark.parametrize(
    "html", ["<script>x</script>", '<p onclick="x">a</p>', '<a href="javascript:x">a</a>', "a < b"]
)
def test_html_that_markdown_does_not_make_is_refused_as_stored(html):
    with pytest.raises(ValidationError):
        Comment(title="a", author="b", day=date(2026, 1, 1), text="a", html=html)


def test_a_document_refers_to_definitions_behind_a_field_with_their_images(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    text = (
        "See [the ticket][1] and ![a line][2].\n\n{{rule: x}}\n[1]: https://x.example/1\n"
        "[2]: a.png\n"
    )

    def prose(part, whole):
        own = written(part, tmp_path, whole=whole)
        return Said("", "", "", own.text, own.html, own.images)

    filler = Filler(pytest.fail, {"rule": lambda _: ["---"]})
    first, _, last = filler.report(text, prose).summary

    assert first.text == "See [the ticket][1] and ![a line][2]."
    assert '<a href="https://x.example/1">the ticket</a>' in first.html
    (image,) = first.images
    assert f'<img src="{image}" alt="a line" />' in first.html
    assert last.text == f"[1]: https://x.example/1\n[2]: {image}"
