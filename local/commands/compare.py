"""``tidemark compare``: a new version beside a base, as a report."""

from __future__ import annotations

from pathlib import Path

import click

from local.commands.saving import check_folder, save
from local.commands.systems import suites
from local.commands.tables import tables_of
from local.commands.target import Target, deployed, target_options
from local.deployed import Deployed
from suites.refusal import Refused
from suites.request import known_suite
from suites.sides import named

# Of a suite, by its rates of a version that count.
_NEWEST = (
    "SELECT max(run_id) FROM rates "
    "WHERE suite = ? AND version = ? AND value IS NOT NULL AND NOT coalesce(excluded, false)"
)
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

    The comparison says what changed, what did not and what is suspicious. The newest run with rates
    of both versions that count is taken; without one, the newest of each. A run is named by its id,
    one of several versions of it as RUN/VERSION; newest and previous are the last two versions.
    Both forms are stored with the report of NEW's run, too, and saved beside it.

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
            stored = results.compare(suite, base, new)
        except Refused as refused:
            hints = (_older_run(cloud, suite, side, target.flags) for side in (new, base))
            hint = next(filter(None, hints), None)
            listing = f"`tidemark runs{target.flags}` lists the runs and what they measured"
            raise Refused(f"{refused}; {hint or listing}") from None
        contents = {ending: results.read(key) for ending, key in stored.items()}
    for ending, content in contents.items():
        save(target.state / stored[ending], content)
    key, content = stored[_FORMS[form]], contents[_FORMS[form]]
    if output is None:
        click.echo(content.decode(), nl=False)
        return
    path = output / Path(key).name if output.is_dir() else output
    save(path, content)
    click.echo(path)


def _older_run(cloud: Deployed, suite: str, side: str, flags: str) -> str | None:
    """Return how the runs of a version are made known that an earlier version of Tidemark stored.

    None if it is no version, or if there is nothing to make known.
    """
    asked, results = named("", side), cloud.runs().results
    if asked.run_id or asked.version is None or results.is_compared(suite, asked.version):
        return None
    with tables_of(cloud) as tables:
        ((run_id,),) = tables.ask(_NEWEST, [suite, asked.version]).rows
    # Figures that were imported have no run.
    if run_id is None or results.plan(run_id) is None:
        return None
    return (
        f"run {run_id} of an earlier Tidemark measured {asked.version}: `tidemark report "
        f"{run_id}{flags}` makes it known"
    )
