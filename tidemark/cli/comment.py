"""``tidemark comment``: what people say of a run or of a comparison, stored beside it."""

from __future__ import annotations

import getpass
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from pydantic import ValidationError

from tidemark.cli.chosen_suite import suite_to_read
from tidemark.cli.options import DayType
from tidemark.cli.show import save_report
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.comments import (
    HEADING,
    Commented,
    add,
    commented_run,
    commented_sides,
    written,
)
from tidemark.client.deployed import Stored
from tidemark.model.comment import WHAT, Comment
from tidemark.model.refusal import Refused, refusal
from tidemark.model.run_id import is_run_id
from tidemark.model.sentences import listed
from tidemark.store.claims import claimed_runs

_TITLE = re.compile(r"\s*#[ \t]+(\S[^\n]*)(?:\n|\Z)")
_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
_PAGE = """# 

<!-- The heading is the title. Figures in this form are checked whenever a report is written:
{}
-->
"""  # noqa: W291 (the title follows)
_MOST_OFFERED = 30


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
