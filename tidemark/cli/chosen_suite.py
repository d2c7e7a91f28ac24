"""The suites of the settings' folder, and the suite of a command: named, or the default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.client.tables import Tables, ask_saved
from tidemark.model.checkout import (
    check_written_suite,
    stored_suites,
    written_context,
    written_suites,
)
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed

if TYPE_CHECKING:
    from tidemark.model.suite import Suite

# A command that reads tables alone imports no models, whose import takes half of its time.


def systems() -> Path:
    """Return the folder that holds ``suites/`` and ``workloads/``."""
    from tidemark.model.settings import read_settings  # noqa: PLC0415

    return read_settings(written_context()).systems


def suites() -> Mapping[str, Suite]:
    """Return the suites by name; raise Refused for a file that is not accepted."""
    from tidemark.model.suite_files import read_suites  # noqa: PLC0415

    return read_suites(systems())


def written_suite(name: str) -> Suite:
    """Return the suite of a name; refuse an unknown name, and a suite that no run measures."""
    from tidemark.model.publication import find_publication  # noqa: PLC0415

    known = suites()
    published = None if name in known else find_publication(systems(), name)
    if published and published.no_runs:
        raise Refused(f"suite: {published.no_runs}")
    check_written_suite(name, known)
    return known[name]


SHIPPED = "rocksdb"
"""The suite of a command that names none, if the folder of suites has it."""


def check_suite(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Return the name of a suite that may get results, None without a name; refuse another."""
    if name is not None:
        check_written_suite(name, stored_suites())
    return name


def suite_to_run() -> str:
    """Return the suite to run: the only one, or else rocksdb; refuse to choose between others."""
    names = written_suites()
    if SHIPPED in names or not names:
        return SHIPPED
    if len(names) > 1:
        raise Refused(f"suite: there are {listed(names)}; name one of them")
    return names[0]


def suite_to_read(named: str | None, tables: Tables) -> str:
    """Return the suite to read: the named suite, the only suite, the newest run's or the default.

    Standard error has the name of a suite that the user has not named. A named one is refused if
    no folder of suites has it and no run of it is stored.
    """
    if named is not None:
        return known_suite(named, tables)
    chosen, reason = _chosen(tables)
    click.echo(f"suite: {chosen}, {reason}", err=True)
    return chosen


def known_suite(name: str, tables: Tables) -> str:
    """Return the name of a suite to read, which may have runs of another folder of suites alone."""
    names = stored_suites()
    if name not in names:
        measured = tables.ask("SELECT DISTINCT suite FROM runs").records()
        check_written_suite(name, sorted({*names, *(str(row["suite"]) for row in measured)}))
    return name


def _chosen(tables: Tables) -> tuple[str, str]:
    """Return the suite that goes without saying, and why."""
    names = written_suites()
    if len(names) == 1:
        return names[0], "the only one"
    if newest := _newest(tables):
        return newest, "which the newest run measured"
    return suite_to_run(), "the default"


def _newest(tables: Tables) -> str | None:
    rows = ask_saved(tables, "run_health", limit=1).records()
    return rows[0]["suite"] if rows else None
