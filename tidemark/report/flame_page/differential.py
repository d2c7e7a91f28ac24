"""The page of two differential flame graphs: the new version, and the base with what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.profiles.call_tree import call_tree
from tidemark.figures.profiles.folded_stacks import Stacks, merged
from tidemark.figures.profiles.growth import (
    Comparison,
    ProfiledTrial,
    plain_stacks,
    renamed_stacks,
)
from tidemark.figures.profiles.growth_sentence import build_sentences, told_sentences
from tidemark.report.flame_page.flame_page import flame_page
from tidemark.report.flame_page.graphs import NOT_DRAWN, ONLY, Graph

_NOTE = (
    "The width of a frame is its share of the samples of {}. Its colour is what the profiles tell "
    "of its function with all that it calls, the stronger the more this share changed."
)
_BUILDS = (
    "The graphs compare call paths, with all functions. The sentences above and the table of "
    "`tidemark profile compare` leave out a function that only one version has, for example "
    "because the other inlines it."
)


class Side(NamedTuple):
    """The samples of one version, with the plain names of functions."""

    version: str
    stacks: Stacks
    profiles: int
    """The number of its profiles."""


def plain_side(version: str, trials: Sequence[ProfiledTrial]) -> Side:
    """Return the samples of all profiled trials of a version."""
    stacks = plain_stacks(merged(trial.stacks for trial in trials))
    return Side(version, stacks, len(trials))


def differential_page(title: str, base: Side, new: Side, found: Comparison, scripts: str) -> str:
    """Return the page of a base and a new version, whose comparison is ``found``.

    ``scripts`` are the libraries that draw the graphs.
    """
    versions = base.version, new.version
    told = list(told_sentences(found, *versions, (base.profiles, new.profiles)))
    notes = [*build_sentences(found, *versions), _BUILDS, NOT_DRAWN]
    return flame_page(title, told, notes, _graphs(base, new, found), scripts)


def _graphs(base: Side, new: Side, found: Comparison) -> list[Graph]:
    """Return the graph of each version: frames that one lacks are in that of the other."""
    before, after = call_tree(renamed_stacks(base.stacks, found.renamed)), call_tree(new.stacks)
    gone, come = (
        found.told | {each.function: ONLY for each in only} for only in (found.gone, found.come)
    )
    since = f"{new.version}, coloured by its change since {base.version}"
    until = f"{base.version}, coloured by its change to {new.version}"
    return [
        Graph(new.version, since, _NOTE.format(new.version), after, before, 1, come),
        Graph(base.version, until, _NOTE.format(base.version), before, after, -1, gone),
    ]
