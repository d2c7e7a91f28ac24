"""The checks that a rate must pass to count: correctness before speed."""

from __future__ import annotations

from harness.records import Tally


class CheckFailedError(Exception):
    """A failed check: the task has no result. The message names the found and expected values."""


def check_tally(found: Tally, expected: Tally, where: str) -> None:
    """Compare the records that the engine holds with those that were written.

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
