"""Tables of a file: those of a Markdown page, or the one of comma-separated values."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidemark.client.published.release_figure import refused_at
from tidemark.model.publication import plain_name

_SEPARATORS = ",;\t|"
_MARKDOWN_TABLE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$", re.MULTILINE
)
# A page has no other ends of lines; Python's splitlines takes a form feed for one, too.
_LINE_END = re.compile(r"\r\n|\r|\n")
_SETUP = re.compile(r"\b(?:set ?up|environment|hardware|configuration|machines?)\b")
_LONGEST_SETUP, _MOST_LINKS = 2_000, 20
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


def is_page(text: str) -> bool:
    """Tell whether a text is a Markdown page with a table."""
    return _MARKDOWN_TABLE.search(text) is not None


class PageContext(NamedTuple):
    """The text of a page beside its tables."""

    setup: str = ""
    """The text of its section of the setup, '' without one."""
    links: tuple[str, ...] = ()
    """The addresses that it links to, each once."""


def page_context(text: str) -> PageContext:
    """Return the setup and the links of a Markdown page; a file of another form has none."""
    if not is_page(text):
        return PageContext()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    links = dict.fromkeys(
        str(child.attrs["href"])
        for token in tokens
        for child in token.children or ()
        if child.type == "link_open" and str(child.attrs["href"]).startswith(("http:", "https:"))
    )
    return PageContext(_setup(tokens)[:_LONGEST_SETUP], tuple(links)[:_MOST_LINKS])


def _setup(tokens: Sequence[Token]) -> str:
    words, level, in_table = list[str](), "", False
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = plain_name(_plain(tokens[index + 1].children or []))
            if level and token.tag <= level:
                level = ""
            if _SETUP.search(heading):
                level = token.tag
        elif token.type in {"table_open", "table_close"}:
            in_table = token.type == "table_open"
        elif token.type == "inline" and level and tokens[index - 1].type != "heading_open":
            words += [] if in_table else [_plain(token.children or [])]
    return " ".join(words)


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
