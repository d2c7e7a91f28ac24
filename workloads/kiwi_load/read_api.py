"""The test of searches that find many records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from harness import log
from harness.task import CheckFailedError
from json_rpc import NETWORKS, Session

_SEARCHES = ("TestCase.filter", "TestRun.filter")
# As often as in the chapter "Hardware and performance" of Kiwi TCMS's documentation.
_TIMES = 5
_FOUND = {"summary__startswith": "Record "}


def run(host: str, port: int, variables: Mapping[str, str]) -> None:
    """Search for as many records as the variables of the task ask for, at a server."""
    network = NETWORKS[variables["TIDEMARK_NETWORK"]]
    with closing(Session(host, port, network)) as session:
        measure(session, int(variables["TIDEMARK_RECORDS"]))


def measure(session: Session, records: int) -> None:
    """Add records, and log each search, after one that counts nowhere.

    Raises
    ------
    CheckFailedError
        If a search finds another number of records.
    """
    session.post(f"/tidemark/records?{records}")
    for operation in _SEARCHES:
        for number in range(-1, _TIMES):
            found = session.call(operation, _FOUND)
            if len(found) != records:
                raise CheckFailedError(
                    f"{operation} found {len(found)} records: {records} were expected."
                )
            if number >= 0:
                _log(number, session)


def _log(number: int, session: Session) -> None:
    answered = session.answered[-1]
    log.info(
        "Read",
        f"Search {number} {answered.operation} in {1000 * answered.seconds:.6f} ms "
        f"of {answered.bytes} bytes",
    )
