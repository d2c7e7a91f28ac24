"""Correctness before speed: what must hold for a rate to count."""

from __future__ import annotations

from rocksdb_workload.records import Tally


class CheckFailedError(Exception):
    """The task has no result; the message says what was found and what was expected."""


def check_tally(found: Tally, expected: Tally, where: str) -> None:
    """Compare what the engine holds with what was put into it.

    Raises
    ------
    CheckFailedError
        If a record was lost, added or changed.
    """
    if found.records != expected.records:
        raise CheckFailedError(
            f"{where} holds {found.records} records: {expected.records} were expected."
        )
    if found.checksum != expected.checksum:
        raise CheckFailedError(
            f"{where} has the checksum {found.checksum}: {expected.checksum} was expected."
        )
