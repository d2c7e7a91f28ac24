"""``tidemark compare``: the comparison of a new version with a base."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from tidemark.cli.chosen_suite import suite_to_read, suites
from tidemark.cli.options import fail_on_option
from tidemark.cli.saving import PICTURES, check_folder, is_picture, save
from tidemark.cli.show import all_option, print_comparison
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Stored
from tidemark.model.checkout import written_suites
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.version_order import parse_side
from tidemark.report.comparison.changes_chart import MOST, DrawnChange, specification
from tidemark.report.comparison.document import (
    ComparedMetric,
    ComparisonDocument,
    exit_code,
    junit,
    workflow_commands,
)
from tidemark.report.files import load
from tidemark.report.marks import marked, qualified
from tidemark.store.keys import BLOCKS
from tidemark.store.run_objects import is_indexed
from tidemark.store.stored_plan import find_plan

# The newest run of a suite with an included rate of a version.
_NEWEST = (
    "SELECT max(run_id) FROM rates "
    "WHERE suite = ? AND version = ? AND value IS NOT NULL AND NOT coalesce(excluded, false)"
)
# The stored form that each format is made of, and how.
_EXCLUDED = "SELECT max(run_id) FROM rates WHERE suite = ? AND version = ? AND excluded"
_FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "markdown": ("md", bytes),
    "html": ("html", bytes),
    "json": ("json", bytes),
    "junit": ("json", lambda content: junit(_document(content)).encode()),
    "github": ("json", lambda content: workflow_commands(_document(content)).encode()),
}
_ENDINGS = {"junit": "xml", "github": "txt"}
_BY_ENDING = {"": "markdown", ".md": "markdown", ".html": "html", ".json": "json", ".xml": "junit"}


@click.command(name="compare")
@click.argument("base")
@click.argument("new")
@click.option(
    "--suite",
    help="The system under test; if not given, the only suite or the newest run's.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMS)),
    help="markdown for a pull request, html for people; for programs json, junit (XML) and "
    "github (annotations). If not given, the ending of --output decides, or else it is markdown.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="File or existing folder to write to; if not given, the comparison is printed. A file "
    "that ends in .svg or .png gets the chart of the changes.",
)
@all_option
@fail_on_option
@target_options
def command(
    base: str,
    new: str,
    suite: str | None,
    form: str | None,
    output: Path | None,
    everything: bool,
    fail_on: str | None,
    target: Target,
) -> None:
    """Compare version NEW with version BASE.

    The comparison lists what changed, what stayed the same and what is suspicious. It uses the
    newest run with rates of both versions, or else the newest run of each. Runs that were aborted
    stand back behind others, and excluded rates do not count. Without --all, printed Markdown has
    no samples, graphs and set-up; a file has them.

    BASE and NEW are versions. Each may also be newest or previous, the last two versions, the id of
    a run of one version, or RUN/VERSION.

    The command also stores Markdown, page and JSON in the results bucket, and saves them in the
    state folder, beside the report of NEW's run.

    With --fail-on slower the exit code is 3 if a metric is slower, 4 if no metric is slower but the
    trials cannot tell some, and otherwise 0.

    \b
    Example:
      tidemark compare 9.0.0 9.8.4 --format html --output comparison.html
    """
    form = form or _form_of(output)
    if everything and form != "markdown":
        raise Refused(f"--all: not accepted with --format {form}; expected --format markdown")
    if is_picture(output) and form != "markdown":
        raise Refused(f"--format: {form} is not accepted for a picture; leave --format out")
    check_folder(output)
    for side, name in (("BASE", base), ("NEW", new)):
        parse_side(side, name)
    with stored(target) as store:
        suite = suite_to_read(suite, store.tables)
        try:
            keys = store.publisher.comparison(suite, base, new)
        except Refused as refused:
            hints = (
                find(store, suite, side, target.flags)
                for find in (_unpublished_run, _excluded_run)
                for side in (new, base)
            )
            hint = next(filter(None, hints), None)
            if hint is None and (command := _measuring(store, suite, (new, base), target.flags)):
                unknown = str(refused).partition("; did you mean ")[0]
                raise Refused(f"{unknown}; {command} measures it") from None
            if hint is None and str(refused).endswith("?"):  # it has the version that was meant
                raise
            listing = f"`tidemark runs{target.flags}` lists the runs and what they measured"
            raise Refused(f"{refused}; {hint or listing}") from None
        contents = {ending: store.bucket.read(key) for ending, key in keys.items()}
    blocks = contents.pop(BLOCKS)
    for ending, content in contents.items():
        save(target.state / keys[ending], content)
    if output is None and form == "markdown":
        print_comparison(contents["md"].decode(), load(blocks), everything=everything)
    else:
        _write(contents, keys, form, output)
    if fail_on:
        sys.exit(exit_code([_document(contents["json"])]))


def _form_of(output: Path | None) -> str:
    """Return the form that a file's ending asks for, markdown for a picture and without a file."""
    if output is None or output.is_dir() or is_picture(output):
        return "markdown"
    if output.suffix not in _BY_ENDING:
        endings = listed([*filter(None, _BY_ENDING), *PICTURES])
        raise Refused(f"--output: {output} is not accepted; expected a name that ends in {endings}")
    return _BY_ENDING[output.suffix]


def _write(
    contents: Mapping[str, bytes], keys: Mapping[str, str], form: str, output: Path | None
) -> None:
    """Print a form of a comparison, or write it; a picture is a form of its own."""
    if output and is_picture(output):
        save(output, changes_picture(_document(contents["json"]), output.suffix))
        click.echo(output)
        return
    ending, made = _FORMS[form]
    content, stored_as = made(contents[ending]), Path(keys[ending])
    if output is None:
        click.echo(content.decode(), nl=False)
    else:
        file = stored_as.with_suffix(f".{_ENDINGS.get(form, ending)}").name
        path = output / file if output.is_dir() else output
        save(path, content)
        click.echo(path)
        if form == "html":
            _save_linked(contents, keys, path.parent)


def _save_linked(contents: Mapping[str, bytes], keys: Mapping[str, str], folder: Path) -> None:
    """Save the flame graphs that a page of a comparison links to, beside it."""
    for name in sorted(contents.keys() - {ending for ending, _ in _FORMS.values()}):
        path = folder / Path(keys[name]).name
        save(path, contents[name])
        click.echo(path)


def _document(content: bytes) -> ComparisonDocument:
    return ComparisonDocument.model_validate_json(content)


def _measuring(store: Stored, suite: str, sides: Sequence[str], flags: str) -> str | None:
    """Return the command that measures a version of a suite that has no rate; None without one."""
    released = suites()[suite].subject.versions if suite in written_suites() else {}
    for side in sides:
        version = parse_side("", side).version
        if version in released and not is_indexed(store.bucket, suite, version):
            return f"`tidemark run {suite} --versions {version}{flags}`"
    return None


def _excluded_run(store: Stored, suite: str, side: str, flags: str) -> str | None:
    """Return how the newest run of a version counts again, None if it counts or there is none."""
    given = [suite, side]
    if next(iter(store.tables.ask(_NEWEST, given).rows[0]), None):
        return None
    run = next(iter(store.tables.ask(_EXCLUDED, given).rows[0]), None)
    return run and f"`tidemark include {run}{flags}` lets the run that is left out count again"


def _unpublished_run(store: Stored, suite: str, side: str, flags: str) -> str | None:
    """Return a hint if the runs of the version ``side`` have figures but no report.

    Return None if ``side`` is not a version, or if there is no such run.
    """
    name, bucket = parse_side("", side), store.bucket
    if name.run_id or name.version is None or is_indexed(bucket, suite, name.version):
        return None
    ((run_id,),) = store.tables.ask(_NEWEST, [suite, name.version]).rows
    # Imported figures have no run.
    if run_id is None or find_plan(bucket, run_id) is None:
        return None
    return (
        f"run {run_id} measured {name.version} and has no report; `tidemark report "
        f"{run_id}{flags}` makes it comparable"
    )


def changes_picture(document: ComparisonDocument, form: str) -> bytes:
    """Return the chart of the first ``MOST`` changes as a picture, with the verdicts in words.

    The title says how many metrics there are if the chart has not all of them.
    """
    # The import takes time, which a text does not need.
    from tidemark.pages.pictures import picture  # noqa: PLC0415

    unlike = document.unlike_machines
    changes = [_change(each, unlike) for each in document.metrics if each.effect is not None][:MOST]
    if not changes:
        raise Refused("--output: no metric of both versions has a change to draw")
    title = f"{document.suite}: {document.new.version} against {document.base.version}"
    metrics = len(document.metrics)
    part = f", {len(changes)} of {metrics} metrics" if len(changes) < metrics else ""
    return picture([specification(changes)], f"{title}, 95 % intervals{part}", form)


def _change(metric: ComparedMetric, unlike: bool) -> DrawnChange:
    assert metric.effect is not None
    word = qualified(metric.verdict, unlike=unlike)
    return DrawnChange(
        title=f"{metric.test}: {metric.name}   {marked(word)}",
        unit=metric.unit,
        direction=metric.direction,
        verdict=word,
        effect=metric.effect,
        low=metric.low,
        high=metric.high,
    )
