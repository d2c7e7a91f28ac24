"""Module names that a reader can tell apart."""

from itertools import combinations

import pytest

from tidemark.model.checkout import ROOT

ENDINGS = ("s", "es", "d", "ed", "er", "ing", "ion", "ings")
# The names of commands, which their modules bear.
COMMANDS = {("run", "runs")}
PARTS = (
    "aws",
    "cdk",
    "lambdas",
    "local/athena",
    "local/cloud",
    "local/doctor",
    "local/insights",
    "local/logs",
    "local/store",
    "tidemark",
)


def differ_by_an_ending(one, other):
    short, long = sorted((one, other), key=len)
    stems = {short, short.removesuffix("e"), short.removesuffix("y")}
    return any(long == stem + ending for stem in stems for ending in (*ENDINGS, "ies"))


@pytest.mark.parametrize("part", PARTS)
def test_no_two_modules_have_names_that_differ_by_an_ending(part):
    stems = {path.stem for path in (ROOT / part).rglob("*.py")} - {"__init__", "__main__"}

    alike = {pair for pair in combinations(sorted(stems), 2) if differ_by_an_ending(*pair)}
    assert alike <= COMMANDS
