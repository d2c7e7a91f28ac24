"""``SOURCE``: the log groups that a query is about."""

from __future__ import annotations

from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.lexer import Kind
from local.insights.names import Names
from local.insights.sources import Groups
from local.insights.syntax import Command, QueryError, Span

# What logGroups takes, and how many of each (AWS documentation, CloudWatch Logs Insights query
# syntax: SOURCE). On one machine all log groups are of the class that AWS takes by default.
_MOST = {"nameprefix": 5, "accountidentifiers": 20, "class": 1}


@dataclass(frozen=True)
class Source(Command):
    """``SOURCE 'group'``, ``SOURCE logGroups(namePrefix: ['a', 'b'])``: first, and repeatable.

    A name without quotes is a log group too, as in the example of appendcols.
    """

    groups: Groups

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Source:
        """Read what follows the word ``SOURCE``."""
        if reader.at("="):
            raise QueryError(
                "source = … is of OpenSearch PPL; Logs Insights QL has SOURCE 'group'", start
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
            groups = Groups(tuple(_group(text.value) for text in reader.listed(reader.text)))
        if reader.at_word("start", "end"):
            raise QueryError(
                "START and END are not supported; who starts a query gives its times",
                reader.token.span,
            )
        return cls(reader.since(start), groups)

    def resolve(self, names: Names) -> None:
        """Keep the events of these groups, and of those of another ``SOURCE`` before it."""
        if set(names.seen) - {"Source"}:
            raise QueryError("SOURCE stands before all other commands", self.span)
        names.sources.append(self.groups)

    def __str__(self) -> str:
        if self.groups.names:
            return f"SOURCE {_texts(self.groups.names)}"
        lists = {"namePrefix": self.groups.prefixes, "accountIdentifiers": self.groups.accounts}
        written = (f"{name}: [{_texts(texts)}]" for name, texts in lists.items() if texts)
        return f"SOURCE logGroups({', '.join(written)})"


def _group(name: str) -> str:
    """Return the name of a log group that may be given as its ARN."""
    return name.rpartition(":log-group:")[2].removesuffix(":*")


def _selection(reader: Reader) -> Groups:
    reader.need("(", "'(' and namePrefix: ['…']")
    found: dict[str, tuple[str, ...]] = {}
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
        texts = tuple(text.value for text in reader.listed(reader.text))
        reader.need("]", "',' or ']'")
        if len(texts) > _MOST[key]:
            raise QueryError(f"{word.value} takes at most {_MOST[key]} texts", word.span)
        if key == "class" and texts != ("STANDARD",):
            raise QueryError("class is ['STANDARD'] on one machine", word.span)
        found[key] = texts
        if not reader.take(","):
            break
    reader.need(")", "',' or ')'")
    return Groups((), found.get("nameprefix", ()), found.get("accountidentifiers", ()))


def _texts(texts: tuple[str, ...]) -> str:
    return ", ".join(map(printing.quoted, texts))
