"""``tidemark compare``: a new version beside a base, as a report."""

from __future__ import annotations

from pathlib import Path

import click

from local.commands.saving import check_folder, save
from local.commands.systems import suites
from local.commands.target import Target, deployed, target_options
from suites.refusal import Refused
from suites.request import known_suite
from suites.sides import named

_FORMS = {"markdown": "md", "html": "html"}


@click.command(name="compare")
@click.argument("base")
@click.argument("new")
@click.option("--suite", default="rocksdb", show_default=True, help="The system under test.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMS)),
    default="markdown",
    show_default=True,
    help="Markdown for a pull request, or a page for people.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="A file to write it to, or a folder that is there; if not given, it is printed.",
)
@target_options
def command(
    base: str, new: str, suite: str, form: str, output: Path | None, target: Target
) -> None:
    """Compare version NEW with version BASE.

    The comparison says what changed, what did not and what is suspicious. The newest run that
    measured both versions is taken; without one, the newest of each. A run is named by its id, one
    of several versions of it as RUN/VERSION.
    Both forms are stored with the report of NEW's run, too.

    \b
    Example:
      tidemark compare 9.0.0 9.8.4 --format html --output comparison.html
    """
    check_folder(output)
    known_suite(suite, suites())
    for side, given in (("BASE", base), ("NEW", new)):
        named(side, given)
    with deployed(target) as cloud:
        results = cloud.runs().results
        try:
            key = results.compare(suite, base, new)[_FORMS[form]]
        except Refused as refused:
            hint = f"`tidemark runs{target.flags}` lists the runs and what they measured"
            raise Refused(f"{refused}; {hint}") from None
        content = results.read(key)
    if output is None:
        click.echo(content, nl=False)
        return
    path = output / Path(key).name if output.is_dir() else output
    save(path, content)
    click.echo(path)
