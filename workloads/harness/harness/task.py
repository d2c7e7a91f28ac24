"""A task: its configuration, read from environment variables, and the errors that end it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_VERSION = re.compile(r"[0-9A-Za-z][\w.+-]{0,63}", re.ASCII)
_DATA = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/(?P<prefix>[\w!.*'()/=-]+)")

# All records of a task are in memory before the clock starts, at some 300 bytes each.
MOST_RECORDS = 10_000_000
_CHECKED_SLICES = 4


class ConfigurationError(Exception):
    """A variable that is missing or has a value that is not accepted; the message names it."""


class CheckFailedError(Exception):
    """A failed check: the task has no result. The message names the found and expected values."""


@dataclass(frozen=True)
class Configuration:
    """One task of a test.

    Attributes
    ----------
    version
        The version that is measured, such as ``9.0.0``.
    package
        The requirements that install it, such as ``rocksdict==0.3.23``, '' if there are none.
    records
        The number of records that each job ingests or compacts.
    jobs
        The number of times that the task does its measured work; each logs one rate.
    seed
        The seed of the records, together with ``task``.
    task
        The index of the task within its test.
    bucket, prefix
        The place in S3 of this task's ingested files.
    in_round
        Whether the version takes turns with others.
    """

    version: str
    package: str
    records: int
    jobs: int
    seed: int
    task: int
    bucket: str
    prefix: str
    in_round: bool = False

    @property
    def place(self) -> str:
        """The place of this task in S3 as an address, which ends with a slash."""
        return f"s3://{self.bucket}/{self.prefix}"

    def is_checked(self, number: int) -> bool:
        """Whether job ``number`` checks its store, which takes as long as the measured work.

        In a round the first slice, which uploads its store, and each fourth after it do. The
        warm-up does not: it tells how long the work takes.
        """
        return not self.in_round or number % _CHECKED_SLICES == 1

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> Configuration:
        """Return the configuration that the ``TIDEMARK_*`` variables hold.

        Raises
        ------
        ConfigurationError
            If a variable is missing or not accepted.
        """
        task = _integer(variables, "TIDEMARK_TASK", 0, 9999)
        data = _match(variables, "TIDEMARK_DATA", _DATA, "s3://<bucket>/<prefix>")
        return cls(
            version=_match(variables, "TIDEMARK_VERSION", _VERSION, "a version such as 9.0.0")[0],
            package=variables.get("TIDEMARK_PACKAGE", ""),
            records=_integer(variables, "TIDEMARK_RECORDS", 1, MOST_RECORDS),
            jobs=_integer(variables, "TIDEMARK_JOBS", 1, 1000),
            seed=_integer(variables, "TIDEMARK_SEED", 0, 2**63 - 1),
            task=task,
            bucket=data["bucket"],
            prefix=f"{data['prefix'].rstrip('/')}/task-{task:04d}/",
            in_round="TIDEMARK_ROUND" in variables,
        )


def _integer(variables: Mapping[str, str], name: str, low: int, high: int) -> int:
    accepted = f"a whole number from {low} to {high}"
    value = int(_match(variables, name, re.compile(r"\d{1,19}", re.ASCII), accepted)[0])
    if not low <= value <= high:
        raise ConfigurationError(_refusal(name, str(value), accepted))
    return value


def _match(
    variables: Mapping[str, str], name: str, pattern: re.Pattern[str], accepted: str
) -> re.Match[str]:
    value = variables.get(name)
    if value is None:
        raise ConfigurationError(f"{name} is missing: {accepted} is accepted.")
    match = pattern.fullmatch(value)
    if match is None:
        raise ConfigurationError(_refusal(name, value, accepted))
    return match


def _refusal(name: str, value: str, accepted: str) -> str:
    return f"{name} is {value!r}: {accepted} is accepted."
