"""``tidemark export`` and ``tidemark restore``: copies of the stored results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import click

from tidemark.cli.target import Target, stored, target_options
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural
from tidemark.store import keys
from tidemark.store.bucket import Bucket

_KEPT = (
    keys.RUNS, keys.TABLES, keys.HISTORY, keys.VERSIONS, keys.REPORTS, keys.PROFILES,
    keys.ARTEFACTS,
)  # fmt: skip
"""The prefixes of what was measured. Claims and working data belong to one stack."""
_MOST_NAMED = 5


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@target_options
def export(folder: Path, target: Target) -> None:
    """Copy all stored results into FOLDER, a file for each object.

    The files have the keys of the objects as names, as `aws s3 sync` writes them. Files that are
    there already are written again.

    \b
    Example:
      tidemark export results --aws
    """
    if target.is_empty:
        raise Refused(target.nothing_stored)
    count = 0
    with stored(target) as store:
        store.check()  # a listing misses an object with another name
        for key in _kept(store.bucket):
            file = folder / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(store.bucket.read(key))
            count += 1
    click.echo(f"{plural(count, 'object')} copied into {folder}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@target_options
def restore(folder: Path, target: Target) -> None:
    """Bring the results of FOLDER, which `tidemark export` wrote, into a stack or this machine.

    An object that is stored already stays as it is. Nothing is written if one of them differs, but
    for what each run writes anew: histories, and the rows and marks of newest runs.

    \b
    Example:
      tidemark restore results --aws --stack Perf
    """
    files = dict(_files(folder))
    if not files:
        raise Refused(f"FOLDER: {str(folder)!r} has no results of `tidemark export`")
    with stored(target, new=True) as store:
        there = set(_kept(store.bucket))
        both = sorted(files.keys() & there)
        if others := [key for key in both if _differs(store.bucket, key, files[key])]:
            named = ", ".join(others[:_MOST_NAMED])
            raise Refused(
                f"FOLDER: {plural(len(others), 'file')} of {str(folder)!r} and the stored objects "
                f"differ, such as {named}; nothing is restored"
            )
        # A run exists once it has a plan: whoever reads meanwhile finds whole runs.
        missing = sorted(files.keys() - there, key=lambda key: (key.endswith("/plan.json"), key))
        lacking = [key for key in both if _is_other_history(store.bucket, key, files[key])]
        for key in missing:
            store.bucket.write_once(key, files[key].read_bytes())
    if missing and lacking:
        suites = listed([key.split("/")[1] for key in lacking])
        click.echo(
            f"warning: the history of {suites} stays as it was; `tidemark report RUN` adds a run",
            err=True,
        )
    click.echo(f"{plural(len(missing), 'object')} restored, {len(both)} stored already")


def _kept(bucket: Bucket) -> Iterator[str]:
    for prefix in _KEPT:
        yield from bucket.keys(prefix)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the key and the file of each exported object."""
    for path in sorted(folder.rglob("*")):
        key = str(PurePosixPath(path.relative_to(folder)))
        if path.is_file() and key.startswith(_KEPT):
            yield key, path


def _is_other_history(bucket: Bucket, key: str, file: Path) -> bool:
    """Tell whether the stored history of a suite has other runs than the restored one."""
    suite = key.removeprefix(keys.HISTORY).partition("/")[0]
    return key == keys.history(suite) and bucket.read(key) != file.read_bytes()


def _differs(bucket: Bucket, key: str, file: Path) -> bool:
    """Tell whether a stored object has other content; each run writes some objects anew."""
    of_newest = (keys.rows("changes"), keys.rows("latest_rates"))
    rewritten = (keys.HISTORY, keys.VERSIONS, keys.REPORTS, *of_newest)
    return not key.startswith(rewritten) and bucket.read(key) != file.read_bytes()
