"""``tidemark comment``: what people say of a run or a comparison, in Markdown with images."""

from __future__ import annotations

import base64
import getpass
import hashlib
import re
import subprocess
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import click
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pydantic import ValidationError

from tidemark.cli.chosen_suite import suite_to_read
from tidemark.cli.options import DayType
from tidemark.cli.show import save_report
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Stored
from tidemark.model.comment import (
    IMAGE,
    IMAGES,
    LARGEST_IMAGE,
    MOST_IMAGES,
    WHAT,
    Comment,
    CommentedBase,
)
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused, refusal
from tidemark.model.run_id import is_run_id
from tidemark.model.sentences import listed, shown
from tidemark.report.comments import Figures, check_quotes, figures_of_run, figures_of_sides
from tidemark.report.comparison.publishing import read_sides
from tidemark.report.comparison.sides import sides
from tidemark.report.run_report.measured import measured_run
from tidemark.store.bucket import Bucket
from tidemark.store.claims import claimed_runs
from tidemark.store.run_objects import add_comment
from tidemark.store.stored_run import read_run

_TITLE = re.compile(r"\s*#[ \t]+(\S[^\n]*)(?:\n|\Z)")
_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
_PAGE = """# 

<!-- The heading is the title. Figures in this form are checked whenever a report is written:
{}
-->
"""  # noqa: W291 (the title follows)
_MOST_OFFERED = 30
_ADDRESSES = ("https://", "http://", "mailto:")
HEADING = 3
"""The level of the heading above a comment, whose own headings stand below it."""
_LOWEST = 6
# An image in Markdown, and a definition that an image may refer to.
_IMAGE = re.compile(r"(!\[[^\]]*\]\(\s*<?)([^\s<>()]+)")
_DEFINITION = re.compile(r"(^ {0,3}\[[^\]]+\]:\s*<?)([^\s<>]+)", re.MULTILINE)


@click.command(name="comment")
@click.argument("words", nargs=-1, required=True, metavar="RUN | BASE NEW")
@click.option("--suite", help="System under test, with BASE NEW.")
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Markdown of the comment; without it, an editor opens.",
)
@click.option("--title", default="", help="Title; if not given, the heading that begins the text.")
@click.option("--author", default="", help="Author; if not given, Git's user.name.")
@click.option(
    "--day", type=DayType(), metavar="YYYY-MM-DD", help="Day; if not given, today in UTC."
)
@click.option(
    "--quotes", is_flag=True, help="Print the figures that a comment can quote, and store nothing."
)
@target_options
def command(
    words: Sequence[str],
    suite: str | None,
    file: Path | None,
    title: str,
    author: str,
    day: datetime | None,
    quotes: bool,
    target: Target,
) -> None:
    """Add a comment to RUN, or to the comparison of version NEW with version BASE.

    A comment is Markdown with links, lists and images of the folder of FILE. It never changes, and
    stands first in every report and comparison that is written from then on.

    A figure in the form {{change ingest_rate of 9.8.4 = -3.1 %}} is checked now and whenever a
    report is written. One that no longer holds is struck out, with the new figure beside it.

    \b
    Example:
      tidemark comment 20261120T124455Z-0a1b2c --file findings.md
      tidemark comment 9.0.0 9.8.4 --title "Why ingest is slower"
    """
    with stored(target) as store:
        commented = _commented(store, words, suite, target)
        if quotes:
            click.echo("\n".join(_quotes(commented)))
            return
        said = _comment(commented, file, (title, author, day))
        add(store, commented, said)
        plan = commented.plan
        for path in save_report(store.bucket, plan.suite.name, plan.run_id, target.state):
            click.echo(path)


class Commented(NamedTuple):
    """The run or comparison that a comment is on, with its figures."""

    plan: Plan
    figures: Figures
    version: str | None = None
    base: CommentedBase | None = None


def commented_run(bucket: Bucket, plan: Plan) -> Commented:
    """Return a run to comment on."""
    return Commented(plan, figures_of_run(measured_run(read_run(bucket, plan))))


def commented_sides(bucket: Bucket, suite: str, base: str, new: str) -> Commented:
    """Return the comparison of two named sides to comment on.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    both = read_sides(bucket, suite, base, new)
    (base_run, base_version), (run, version) = both
    of_base = CommentedBase(run_id=base_run.plan.run_id, version=base_version)
    return Commented(run.plan, figures_of_sides(sides(*both)), version, of_base)


def add(stored: Stored, commented: Commented, said: Comment) -> None:
    """Store a comment whose quoted figures hold, and write the pages that show it again.

    Raises
    ------
    Refused
        If a quoted figure is not stored, or has another value.

    """
    check_quotes(said, commented.figures)
    suite, run_id = commented.plan.suite.name, commented.plan.run_id
    add_comment(stored.bucket, run_id, said)
    stored.publisher.report(run_id)
    if base := commented.base:
        named = f"{base.run_id}/{base.version}", f"{run_id}/{commented.version}"
        stored.publisher.comparison(suite, *named)


def _commented(store: Stored, words: Sequence[str], suite: str | None, target: Target) -> Commented:
    if len(words) == 2:
        return commented_sides(store.bucket, suite_to_read(suite, store.tables), *words)
    run = words[0]
    if len(words) > 2 or not is_run_id(run):
        raise Refused(f"RUN: {listed(words)} is not accepted; expected a run, or BASE NEW")
    plan = target.plan(store.bucket, run)
    if run in claimed_runs(store.bucket):
        raise click.ClickException(f"run {run} is active; comment on it when it has ended")
    return commented_run(store.bucket, plan)


def _quotes(commented: Commented) -> list[str]:
    """Return each figure in the form that a comment quotes."""
    return [
        f"{{{{{what} {subject} = {known.words(what)}}}}}"
        for subject, known in commented.figures.items()
        for what in WHAT
        if known.value(what) is not None
    ]


def _comment(
    commented: Commented, file: Path | None, given: tuple[str, str, datetime | None]
) -> Comment:
    title, author, day = given
    text = file.read_text(encoding="utf-8") if file else _edited(commented)
    text = _REMARK.sub("", text).strip()
    if not title and (heading := _TITLE.match(text)):
        title, text = heading[1].strip(" #"), text[heading.end() :].strip()
    if not title:
        raise Refused("--title: the text begins with no heading; expected a title")
    if not text:
        raise Refused("FILE: the comment is empty; nothing is stored")
    text, html, images = written(text, file.parent if file else Path.cwd(), HEADING)
    try:
        said = Comment(
            title=title,
            author=author or _author(),
            day=(day or datetime.now(UTC)).date(),
            text=text,
            html=html,
            images=images,
            version=commented.version,
            base=commented.base,
        )
    except ValidationError as error:
        raise refusal(Comment, error) from None
    return said


def _edited(commented: Commented) -> str:
    """Return what a person writes in an editor, which has the figures to quote in a remark."""
    offered = _quotes(commented)[:_MOST_OFFERED]
    text = click.edit(_PAGE.format("\n".join(offered)), extension=".md")
    if text is None:
        raise Refused("the text was not saved; nothing is stored")
    return text


def _author() -> str:
    """Return the name that Git knows, or else the login name."""
    done = subprocess.run(
        ["git", "config", "user.name"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or getpass.getuser()


class Written(NamedTuple):
    """A text of Markdown, the same as HTML, and its images."""

    text: str
    """The text, in which images have the names of ``images``."""
    html: str
    images: Mapping[str, str]
    """The images in base64, by name."""


class _Renderer(RendererHTML):
    """HTML in which an image of another site is a link: a page needs no network."""

    def image(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        token = tokens[idx]
        words = self.renderInlineAsText(token.children, options, env) if token.children else ""
        address = str(token.attrs["src"])
        if address.startswith(_ADDRESSES):
            return f'<a href="{escape(address)}">{escape(words or address)}</a>'
        return f'<img src="{escape(address)}" alt="{escape(words)}" />'


def written(text: str, folder: Path, below: int = 0, whole: str = "") -> Written:
    """Return a text with the images of a folder that it shows.

    Its headings stand below one of the level ``below``. A text below a heading is shown elsewhere,
    too, and so has no links to files. ``whole`` is the document that the text is a part of: the
    text may refer to a definition in another part.

    Raises
    ------
    Refused
        If the text has HTML, a link or an image leads neither to an address nor to a file of the
        folder, or an image is too large.

    """
    images: dict[str, str] = {}
    env: dict[str, Any] = {}
    parser = MarkdownIt("commonmark", renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])

    def renamed(found: re.Match[str]) -> str:
        before, target = found.groups()
        if target.startswith(_ADDRESSES) or not target.lower().endswith((*IMAGES,)):
            return found[0]
        name, content = _image(folder, target)
        images[name] = content
        return before + name

    parser.parse(_DEFINITION.sub(renamed, whole), env)
    defined, images = images, {}
    for pattern in (_IMAGE, _DEFINITION):
        text = pattern.sub(renamed, text)
    if len(images) > MOST_IMAGES:
        raise Refused(f"the text shows {len(images)} images; expected at most {MOST_IMAGES}")
    tokens, lines = parser.parse(text, env), text.split("\n")
    for token in _each(tokens):
        source = token.attrs.get("src")
        if source in defined:
            images[str(source)] = defined[str(source)]
        _check_no_html(token)
        if below or token.type == "image":
            _check_target(token, images)
        if token.type.startswith("heading"):
            level = min(_LOWEST, below + int(token.tag[1:]))
            token.tag = f"h{level}"
            if token.map and token.markup.startswith("#"):
                line = token.map[0]
                lines[line] = lines[line].replace(token.markup, "#" * level, 1)
    return Written("\n".join(lines), parser.renderer.render(tokens, parser.options, env), images)


def _each(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _each(token.children or ())


def _check_no_html(token: Token) -> None:
    if token.type.startswith("html"):
        tag = shown(token.content.strip())
        raise Refused(f"the text has HTML, {tag}; expected Markdown, with code in backticks")


def _check_target(token: Token, images: Mapping[str, str]) -> None:
    target = str(token.attrs.get("href") or token.attrs.get("src") or "")
    if target and not target.startswith(_ADDRESSES) and target not in images:
        endings = listed(IMAGES)
        raise Refused(
            f"the text leads to {shown(target)}, which is neither an address that begins with "
            f"https:// nor an image beside the text that ends in {endings}"
        )


def _image(folder: Path, target: str) -> tuple[str, str]:
    """Return the stored name of an image and its content in base64."""
    file = folder / target
    if not file.resolve().is_relative_to(folder.resolve()):
        raise Refused(f"the image {shown(target)} is outside the folder of the text")
    if not file.is_file():
        raise Refused(f"the image {shown(target)} is not in the folder of the text")
    if (size := file.stat().st_size) > LARGEST_IMAGE:
        most = f"expected at most {LARGEST_IMAGE:,}"
        raise Refused(f"the image {shown(target)} has {size:,} bytes; {most}")
    content = file.read_bytes()
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", file.name)[-80:]
    name = f"{hashlib.sha256(content).hexdigest()[:12]}-{plain}"
    assert re.fullmatch(IMAGE, name)
    return name, base64.b64encode(content).decode()
