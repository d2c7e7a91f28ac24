"""The stored results in a state folder, opened without a cloud."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from onebox.store.bucket import FileBucket
from onebox.store.object_files import ObjectFiles
from onebox.store.tables import FileTables
from tidemark.client.in_process import InProcessPublisher
from tidemark.client.results import Results
from tidemark.client.stored import Stored
from tidemark.store import keys
from tidemark.store.catalogue import database_name, table_input
from tidemark.store.columns import TABLES

# The one-machine cloud names the bucket after its stack and its place in the CDK app, of which the
# last characters are a digest. On AWS, too, another place would be another bucket.
_RESULTS, _PLACE = "resultsbucket", "46167c27"
_SUITE = f"{keys.rows('runs')}suite="


@contextmanager
def stored_in(
    state: Path, stack: str, suites: Sequence[str], reported: Callable[[str], None]
) -> Iterator[Stored]:
    """Yield the results of a stack in a state folder.

    The partitions of its tables are ``suites`` and those that have results, perhaps by a run of
    another folder of suites.
    ``reported`` is called with a sentence about each damaged object that is read.

    Raises
    ------
    FolderInUse
        If another process has the folder open.
    ObjectFilesError
        If the folder cannot be used, or an object that is needed is damaged.

    """
    files = ObjectFiles(state / "objects")
    try:
        name = results_bucket(files, stack)
        bucket, database = FileBucket(files, name, reported), database_name(stack)
        partitions = sorted({*suites, *_suites(bucket)})
        catalogue = {
            database: {
                table: {
                    "DatabaseName": database,
                    **table_input(table, columns, f"s3://{name}/tables", partitions),
                }
                for table, columns in TABLES.items()
            }
        }
        tables = FileTables(files, catalogue, database, state / "tables", reported)
        yield Stored(Results(bucket), tables, InProcessPublisher(bucket))
    finally:
        files.close()


def _suites(bucket: FileBucket) -> Iterator[str]:
    """Yield the suites that have results, with one look at each."""
    last = ""
    while key := next(bucket.keys(_SUITE, after=last), ""):
        suite = key.removeprefix(_SUITE).split("/")[0]
        yield suite
        last = f"{_SUITE}{suite}0"  # 0 follows / in the order of keys


def own_bucket(stack: str) -> str:
    """Return the name of the results bucket that a cloud makes for a stack."""
    return f"{stack}-{_RESULTS}{_PLACE}"[:63].lower()


def results_bucket(files: ObjectFiles, stack: str) -> str:
    """Return the name of a stack's results bucket; the one that a cloud makes if there is none."""
    prefix = f"{stack.lower()}-{_RESULTS}"
    first = next(files.buckets(after=prefix), "")
    return first if first.startswith(prefix) else own_bucket(stack)
