"""Command ``SOURCE``: the log groups of a query."""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.source import Groups
from cwli.insights.syntax import Command, QueryError, Span
from cwli.insights.tokens import Kind

# The arguments of logGroups and the most texts in each (AWS documentation, CloudWatch Logs
# Insights query syntax: SOURCE). On one machine all log groups have AWS's default class.
_MOST = {"nameprefix": 5, "accountidentifiers": 20, "class": 1}


@dataclass(frozen=True)
class Source(Command):
    """``SOURCE 'group'``, ``SOURCE logGroups(namePrefix: ['a', 'b'])``: before other commands.

    A query may have several. A name without quotes is a log group, too, as in the example of
    appendcols.
    """

    groups: Groups

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Source:
        """Read the arguments of ``SOURCE``."""
        if reader.at("="):
            raise QueryError(
                "source = … is OpenSearch PPL; in Logs Insights QL write SOURCE 'group'", start
            )
        if reader.take_word("loggroups"):
            groups = _selection(reader)
        elif reader.token.kind is Kind.NAME:
            word = reader.advance()
            if reader.at("("):
                raise QueryError(
                    f"{word.value} is not supported; supported: logGroups(…) and names", word.span
                )
            groups = Groups((word.value,))
        else:
            groups = Groups(tuple(_group(text.value) for text in reader.list_of(reader.text)))
        if reader.at_word("start", "end"):
            raise QueryError(
                "START and END are not supported; set the times when you start the query",
                reader.token.span,
            )
        return cls(reader.since(start), groups)

    def resolve(self, names: Names) -> None:
        """Add the groups to those of earlier ``SOURCE`` commands."""
        if set(names.seen) - {"Source"}:
            raise QueryError("SOURCE must come before all other commands", self.span)
        names.sources.append(self.groups)

    def __str__(self) -> str:
        if self.groups.names:
            return f"SOURCE {_texts(self.groups.names)}"
        lists = {"namePrefix": self.groups.prefixes, "accountIdentifiers": self.groups.accounts}
        arguments = (f"{name}: [{_texts(texts)}]" for name, texts in lists.items() if texts)
        return f"SOURCE logGroups({', '.join(arguments)})"


def _group(name: str) -> str:
    """Return the name of a log group from its name or its ARN."""
    return name.rpartition(":log-group:")[2].removesuffix(":*")


def _selection(reader: Reader) -> Groups:
    reader.need("(", "'(' and namePrefix: ['…']")
    arguments: dict[str, tuple[str, ...]] = {}
    while not reader.at(")"):
        word = reader.name()
        key = word.value.lower()
        if key not in _MOST:
            raise QueryError(
                f"{word.value!r} is not supported in logGroups; "
                "supported: namePrefix, accountIdentifiers, class",
                word.span,
            )
        reader.need(":", "':'")
        reader.need("[", "a list of texts such as ['a', 'b']")
        texts = tuple(text.value for text in reader.list_of(reader.text))
        reader.need("]", "',' or ']'")
        if len(texts) > _MOST[key]:
            raise QueryError(f"{word.value} takes at most {_MOST[key]} texts", word.span)
        if key == "class" and texts != ("STANDARD",):
            raise QueryError("class must be ['STANDARD'] on one machine", word.span)
        arguments[key] = texts
        if not reader.take(","):
            break
    reader.need(")", "',' or ')'")
    return Groups((), arguments.get("nameprefix", ()), arguments.get("accountidentifiers", ()))


def _texts(texts: tuple[str, ...]) -> str:
    return ", ".join(map(printing.quoted, texts))
