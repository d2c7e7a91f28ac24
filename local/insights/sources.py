"""Which log groups a query names itself, by ``SOURCE``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from local.insights.plan import Step
from local.insights.values import quoted

if TYPE_CHECKING:
    from local.insights.sql import Writer


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

    def sql(self) -> str:
        """Return the condition that the column ``log`` (``account:group``) names one of these."""
        name = "substring(log, strpos(log, ':') + 1)"
        if self.names:
            return f"{name} IN ({', '.join(map(quoted, self.names))})"
        begins = [f"starts_with({name}, {quoted(prefix)})" for prefix in self.prefixes]
        account = "split_part(log, ':', 1)"
        of = [f"{account} IN ({', '.join(map(quoted, self.accounts))})"] if self.accounts else []
        return " AND ".join([*of, *([f"({' OR '.join(begins)})"] if begins else [])]) or "TRUE"


@dataclass(frozen=True)
class Among(Step):
    """Keep the events of log groups."""

    per_event = True

    sources: tuple[Groups, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The log group's name."""
        return frozenset({"log"})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a WHERE."""
        either = " OR ".join(f"({groups.sql()})" for groups in self.sources)
        writer.define(kept, {}, f"WHERE {either}")
