"""Flame graphs as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from tidemark.model.sentences import visible
from tidemark.pages import shell
from tidemark.report.flame_page.graphs import WORDS, Graph, graph_data

_FOLDER = Path(__file__).parent


def flame_page(
    title: str,
    sentences: Sequence[str],
    notes: Sequence[str],
    graphs: Sequence[Graph],
    scripts: str,
) -> str:
    """Return a page of graphs with sentences above them and folded notes.

    ``scripts`` are the libraries that draw the graphs.
    """
    body = Template(_file("flame_page.html")).substitute(
        title=escape(title),
        sentences=_paragraphs(sentences),
        notes=_paragraphs(notes),
        legend=_legend() if any(graph.other for graph in graphs) else "",
        graphs="\n".join(map(_graph, graphs)),
    )
    # The data of the graphs mean the same with these escapes.
    return shell.page(
        title, _file("flame_page.css"), visible(body), scripts, _file("flame_page.js")
    )


def _paragraphs(sentences: Sequence[str]) -> str:
    return "\n".join(f"<p>{shell.words(sentence)}</p>" for sentence in sentences)


def _legend() -> str:
    items = (
        f'<li><span class="swatch {name}"></span> {words}</li>' for name, words in WORDS.items()
    )
    return "\n".join(['<ul class="legend">', *items, "</ul>"])


def _graph(graph: Graph) -> str:
    return Template(_file("graph.html")).substitute(
        name=escape(graph.name),
        heading=escape(graph.heading),
        note=shell.words(graph.note),
        data=shell.json_for_script(graph_data(graph)),
    )


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
