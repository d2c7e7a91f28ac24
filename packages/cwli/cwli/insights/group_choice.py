"""Log groups that a query names with ``SOURCE``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cwli.insights.plan import Step
from cwli.insights.values import quoted

if TYPE_CHECKING:
    from cwli.insights.sql import Writer


_ACCOUNT = "([0-9]{12}):"


class NoLogGroupError(Exception):
    """A ``SOURCE`` that names a missing log group or selects none."""


class Groups(NamedTuple):
    """Log groups by name, or by prefix and account.

    Without prefixes any name fits, without accounts any account.
    """

    names: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()

    def has(self, account: str, name: str) -> bool:
        """Tell whether a log group is one of these."""
        if self.names:
            return name in self.names
        return (not self.accounts or account in self.accounts) and (
            not self.prefixes or name.startswith(self.prefixes)
        )

    def select(self, account: str, known: Collection[str]) -> list[str]:
        """Return those of an account's log groups that are in this selection.

        Raises
        ------
        NoLogGroupError
            If a named log group does not exist, or no log group has one of the prefixes.
        """
        for name in self.names:
            if name not in known:
                raise NoLogGroupError(f"SOURCE: no log group is named {name!r}")
        groups = [name for name in known if self.has(account, name)]
        if not groups:
            raise NoLogGroupError(
                f"SOURCE: {f'account {account}' if account else 'PATH'} has no log group that "
                "logGroups selects"
            )
        return groups

    def sql(self) -> str:
        """Return the condition that the column ``log`` is one of these.

        It is ``account:group``, or the path of a file.
        """
        name = (
            "CASE WHEN log[13] = ':' AND translate(left(log, 12), '0123456789', '') = '' "
            "THEN substring(log, 14) ELSE log END"
        )
        if self.names:
            return f"({name}) IN ({', '.join(map(quoted, self.names))})"
        conditions = []
        if self.accounts:
            accounts = ", ".join(map(quoted, self.accounts))
            conditions.append(f"split_part(log, ':', 1) IN ({accounts})")
        if self.prefixes:
            prefixes = (f"starts_with({name}, {quoted(prefix)})" for prefix in self.prefixes)
            conditions.append(f"({' OR '.join(prefixes)})")
        return " AND ".join(conditions) or "TRUE"


def split_log(log: str) -> tuple[str, str]:
    """Return the account of an ``@log`` and its log group, or '' and the path of a file."""
    found = re.match(_ACCOUNT, log)
    return (found[1], log[found.end() :]) if found else ("", log)


def chosen(sources: Iterable[Groups], account: str, known: Collection[str]) -> list[str]:
    """Return those of an account's log groups that any source selects, each once.

    Raises
    ------
    NoLogGroupError
        As `Groups.select`.
    """
    names = (name for groups in sources for name in groups.select(account, known))
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class GroupFilter(Step):
    """A step that keeps the events of some log groups, of all that the query names anywhere."""

    per_event = True

    sources: tuple[Groups, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The column of the log group."""
        return frozenset({"log"})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a WHERE clause over the view ``named``."""
        writer.read_named()
        condition = " OR ".join(f"({groups.sql()})" for groups in self.sources)
        writer.define(kept, {}, f"WHERE {condition}")
