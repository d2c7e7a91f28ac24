"""The tables of a Markdown page, and the table of a file of comma-separated values."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidemark.client.published.release_figure import refused_at
from tidemark.model.publication import Publication, plain_name

_SEPARATORS = ",;\t|"
_MARKDOWN_TABLE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$", re.MULTILINE
)
# A page has no other ends of lines; Python's splitlines takes a form feed for one, too.
_LINE_END = re.compile(r"\r\n|\r|\n")
_SETUP = re.compile(r"\b(?:set ?up|environment|hardware|configuration|machines?)\b")
_LONGEST_SETUP, _MOST_LINKS, _MOST_SETTINGS = 2_000, 20, 40
_ITEM = re.compile(r"\s*[-*] (?P<figure>\d[\d.,]*) (?P<unit>[A-Za-z][A-Za-z ]*/[a-z]+)\s*")
_TIME_OF_ONE = re.compile(r"(?P<time>ms|s)/(?P<one>\w+)")
# A fact of the environment in a page of reStructuredText, ``- Server: t3.medium``.
_FACT = re.compile(r" +[-*] (?P<name>[A-Z][\w ]{0,30}): (?P<text>\S.*)")
_BAR = re.compile(r"(?<!\\)\|")


class TableRow(NamedTuple):
    """The cells of a row without markup."""

    line: int
    cells: tuple[str, ...]


class PageTable(NamedTuple):
    """A table with a heading for each column."""

    line: int
    headings: tuple[str, ...]
    rows: tuple[TableRow, ...]
    over: str = ""
    """The heading of the page over the table, '' for none."""


def tables(text: str) -> list[PageTable]:
    """Return the tables of a Markdown page, or else the one of comma-separated values."""
    return list(_markdown(text) if is_page(text) else _separated(text))


def cells(columns: Iterable[tuple[PageTable, Sequence[int]]]) -> Iterator[str]:
    """Yield the cells in some columns of tables."""
    return (row.cells[n] for table, numbers in columns for row in table.rows for n in numbers)


def is_page(text: str) -> bool:
    """Tell whether a text is a Markdown page with a table."""
    return _MARKDOWN_TABLE.search(text) is not None


class PageContext(NamedTuple):
    """The text of a page beside its tables."""

    setup: str = ""
    """The text of its section of the setup, '' without one."""
    links: tuple[str, ...] = ()
    """The addresses that it links to, each once."""
    settings: Mapping[str, str] = {}
    """The settings in tables of its setup, and the address of each link in a line of its own."""


def page_context(text: str) -> PageContext:
    """Return the setup, links and settings of a Markdown page; of another page only its facts."""
    if not is_page(text):
        facts = map(_FACT.fullmatch, _LINE_END.split(text))
        return PageContext(settings={each["name"]: each["text"] for each in facts if each})
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    links, words, settings = dict[str, None](), list[str](), dict[str, str]()
    for part in _parts(tokens):
        inline = part.inline.children or []
        links |= dict.fromkeys(address for _, address in _linked(inline))
        if part.is_setting:
            settings[part.name] = _with_addresses(inline)
        elif part.is_setup:
            words.append(_plain(inline))
        elif len(named := list(_linked(inline))) == 1 and _plain(inline) == named[0][0]:
            settings[f"{part.heading}: {named[0][0]}"] = named[0][1]
    return PageContext(
        " ".join(words)[:_LONGEST_SETUP],
        tuple(links)[:_MOST_LINKS],
        dict(islice(settings.items(), _MOST_SETTINGS)),
    )


class _Part(NamedTuple):
    """A text of a page outside headings and tables of figures."""

    heading: str
    inline: Token
    is_setup: bool
    """Whether it stands in a section of the setup."""
    name: str = ""
    """The name of the setting that it is, '' for other texts."""

    @property
    def is_setting(self) -> bool:
        """Whether it is the value in a table of settings."""
        return bool(self.name)


def _parts(tokens: Sequence[Token]) -> Iterator[_Part]:
    """Yield the texts of a page; of a table only the second of two columns in the setup."""
    heading, level, cells = "", "", list[Token]()
    in_table = False
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = _plain(tokens[index + 1].children or [])
            if level and token.tag <= level:
                level = ""
            if _SETUP.search(plain_name(heading)):
                level = token.tag
        elif token.type in {"table_open", "table_close"}:
            in_table = token.type == "table_open"
        elif token.type == "tr_open":
            cells = []
        elif token.type == "inline" and in_table and tokens[index - 1].type == "td_open":
            cells.append(token)
        elif token.type == "tr_close" and level and len(cells) == 2:
            yield _Part(heading, cells[1], True, _plain(cells[0].children or []))
        elif token.type == "inline" and not in_table and tokens[index - 1].type != "heading_open":
            yield _Part(heading, token, bool(level))


def _linked(inline: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield the words and the address of each link to another site."""
    for index, token in enumerate(inline):
        address = str(token.attrs.get("href", ""))
        if token.type == "link_open" and address.startswith(("http:", "https:")):
            inner = takewhile(lambda each: each.type != "link_close", inline[index + 1 :])
            yield _plain(list(inner)), address


def _with_addresses(inline: Sequence[Token]) -> str:
    """Return the text of a cell with the addresses of its links behind it."""
    addresses = [address for _, address in _linked(inline)]
    return " ".join([_plain(inline), *addresses])


def _markdown(text: str) -> Iterator[PageTable]:
    """Yield the tables of a page; source: GitHub Flavored Markdown, "Tables (extension)"."""
    lines, rows, over = _LINE_END.split(text), list[TableRow](), ""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for index, token in enumerate(tokens):
        if token.type == "table_open":
            rows = []
        elif token.type == "heading_open":
            over = _plain(tokens[index + 1].children or [])
        elif token.type == "tr_open" and token.map:
            rows.append(TableRow(token.map[0] + 1, tuple(_cells(tokens, index))))
        elif token.type == "table_close":
            (line, headings), *body = rows
            for row in body:
                # The extension ignores cells beyond the headings, which would be lost figures.
                if _count(lines[row.line - 1]) > len(headings):
                    sentence = f"the row has more cells than the {len(headings)} headings"
                    raise refused_at(row.line, sentence)
            yield PageTable(line, headings, tuple(body), over)


def _cells(tokens: Sequence[Token], row: int) -> Iterator[str]:
    for token in tokens[row + 1 :]:
        if token.type == "tr_close":
            return
        if token.type == "inline":
            yield _plain(token.children or [])


def _plain(inline: Sequence[Token]) -> str:
    """Return the text of a cell: without marks, pictures, and the numbers of footnotes."""
    words, in_footnote = "", False
    for token in inline:
        if token.type == "html_inline" and (tag := re.match(r"</?(sup)\b", token.content)):
            in_footnote = not tag[0].startswith("</")
        elif token.type == "html_inline" and token.content.lower().startswith("<br"):
            words += " "
        elif not in_footnote and token.type in {"text", "text_special", "code_inline", "softbreak"}:
            is_footnote = token.type == "text" and re.fullmatch(r"\^\w+", token.content)
            words += "" if is_footnote else (token.content or " ")
    return " ".join(re.sub(r"\[\^[^\]]+\]", "", words).split(" ")).strip()


def _count(line: str) -> int:
    """Return the number of cells in a line of a table."""
    return len(_BAR.findall(line.strip().removeprefix("|").removesuffix("|"))) + 1


def _separated(text: str) -> Iterator[PageTable]:
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    first = next((line for line in lines if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    try:
        rows = [TableRow(reader.line_num, tuple(cell.strip() for cell in row)) for row in reader]
    except csv.Error as error:
        raise refused_at(reader.line_num, str(error)) from None
    table = [row for row in rows if any(row.cells)]
    if not table or first.count(separator) == 0:
        return
    (line, headings), *body = table
    for row in body:
        if len(row.cells) != len(headings):
            expected = f"expected {len(headings)}, one for each heading"
            raise refused_at(row.line, f"the row has {len(row.cells)} cells; {expected}")
    yield PageTable(line, headings, tuple(body))


def listed_table(text: str, publication: Publication) -> list[PageTable]:
    """Return the table of a list of figures, such as ``- 71500 API calls/hour``, if a page has one.

    The metric is the one whose name ends the words, in the same unit of time.
    """
    found: dict[str, str] = {}
    first = 0
    for number, line in enumerate(_LINE_END.split(text), start=1):
        item = _ITEM.fullmatch(line)
        if item and (heading := _heading(item["unit"], publication)):
            first = first or number
            found.setdefault(heading, item["figure"])
    if not found:
        return []
    return [PageTable(first, tuple(found), (TableRow(first, tuple(found.values())),))]


def _heading(unit: str, publication: Publication) -> str | None:
    """Return the column of the metric of a rate, ``calls/hour``, or of a time, ``ms/request``."""
    of_one = _TIME_OF_ONE.fullmatch(unit)
    words = f"time per {of_one['one']}" if of_one else plain_name(unit.replace("/", " per "))
    for metric in publication.figures:
        fits = metric.unit == of_one["time"] if of_one else True
        if fits and any(words.endswith(name) for name in metric.names):
            return metric.columns[0]
    return None
