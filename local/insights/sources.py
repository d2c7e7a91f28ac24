"""Which log groups a query names itself, by ``SOURCE``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local.insights.plan import Step
from local.insights.values import quoted

if TYPE_CHECKING:
    from local.insights.sql import Writer


class NoLogGroupError(Exception):
    """``SOURCE`` names a log group that does not exist, or none that does."""


@dataclass(frozen=True)
class Groups:
    """Log groups by name, or all that begin as one of the prefixes and are of these accounts.

    No prefix is any name, and no account any account.
    """

    names: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()

    def has(self, account: str, name: str) -> bool:
        """Return whether a log group is one of these."""
        if self.names:
            return name in self.names
        return (not self.accounts or account in self.accounts) and (
            not self.prefixes or name.startswith(self.prefixes)
        )

    def among(self, account: str, known: Collection[str]) -> list[str]:
        """Return which of an account's log groups are these.

        Raises
        ------
        NoLogGroupError
            If one that is named is not there, or none begins as one of the prefixes.
        """
        for name in self.names:
            if name not in known:
                raise NoLogGroupError(f"SOURCE: no log group is named {name!r}")
        found = [name for name in known if self.has(account, name)]
        if not found:
            raise NoLogGroupError(
                f"SOURCE: {f'account {account}' if account else 'PATH'} has no log group that "
                "logGroups selects"
            )
        return found

    def sql(self) -> str:
        """Return the condition that the column ``log`` (``account:group``) names one of these."""
        name = "substring(log, strpos(log, ':') + 1)"
        if self.names:
            return f"{name} IN ({', '.join(map(quoted, self.names))})"
        begins = [f"starts_with({name}, {quoted(prefix)})" for prefix in self.prefixes]
        account = "split_part(log, ':', 1)"
        of = [f"{account} IN ({', '.join(map(quoted, self.accounts))})"] if self.accounts else []
        return " AND ".join([*of, *([f"({' OR '.join(begins)})"] if begins else [])]) or "TRUE"


def chosen(sources: Iterable[Groups], account: str, known: Collection[str]) -> list[str]:
    """Return which of an account's log groups are among any of these, each once.

    Raises
    ------
    NoLogGroupError
        As `Groups.among`.
    """
    found = (name for groups in sources for name in groups.among(account, known))
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Among(Step):
    """Keep the events of log groups, of all those that the query names anywhere."""

    per_event = True

    sources: tuple[Groups, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The log group's name."""
        return frozenset({"log"})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a WHERE over the events of what is named."""
        writer.read_named()
        either = " OR ".join(f"({groups.sql()})" for groups in self.sources)
        writer.define(kept, {}, f"WHERE {either}")
