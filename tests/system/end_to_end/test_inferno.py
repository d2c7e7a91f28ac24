"""Differential flame graphs against inferno's, whose programs cargo builds.

Semantics of difffolded.pl and ``inferno-diff-folded -n``: the width of a frame is that of the new
profile, and its change is counted after the totals were made equal. A picture of flamegraph.pl and
inferno has the change of a frame itself, without that of the frames above it.
"""

import random
import re
import shutil
import subprocess

import pytest

from tidemark.figures.profiles.call_tree import call_tree
from tidemark.figures.profiles.growth import ProfiledTrial, compare
from tidemark.model.checkout import ROOT
from tidemark.report.flame_page import LEAST_SHARE, Graph, graph_data

pytestmark = pytest.mark.systems  # cargo compiles for minutes, once
VERSION = "0.12.8"
FOLDER = ROOT / ".inferno" / VERSION
TITLE = re.compile(r"<title>(?P<name>f\d+) \((?P<samples>[\d,]+) samples, [^;]*; (?P<d>\S+)%\)")


@pytest.fixture(scope="module")
def inferno():
    """Return a function that runs a program of inferno over a text or files."""
    if not (FOLDER / "bin" / "inferno-diff-folded").exists():
        assert shutil.which("cargo"), "cargo is missing on the PATH: it builds inferno"
        words = ["cargo", "install", "inferno", "--version", VERSION, "--locked", "--quiet"]
        subprocess.run([*words, "--root", str(FOLDER)], check=True)

    def run(program, *words, text=""):
        done = subprocess.run(
            [str(FOLDER / "bin" / program), *map(str, words)],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    return run


def profiles(seed, *, same_stacks):
    """Return a base and a new profile, in which each function has one call path.

    No name begins with another one, which would divide frames when inferno sorts the stacks.
    """
    chance = random.Random(seed)
    paths = [("f00",)]
    for _ in range(60):
        parent = chance.choice(paths)
        if len(parent) < 8:
            paths.append((*parent, f"f{len(paths):02d}"))

    def drawn():
        missing = 0.0 if same_stacks else 0.25
        taken = [path for path in paths if chance.random() >= missing]
        return {";".join(path): chance.randint(200, 20_000) for path in taken}

    return drawn(), drawn()


def normalised(inferno, folder, base, new):
    """Return what inferno makes of both, with equal totals."""
    files = []
    for name, stacks in (("base", base), ("new", new)):
        files.append(folder / name)
        files[-1].write_text("".join(f"{stack} {count}\n" for stack, count in stacks.items()))
    return inferno("inferno-diff-folded", "-n", *files)


def nodes(data, path=()):
    here = (*path, data["n"])
    yield here[1:], data["v"], data["d"]
    for child in data.get("c", ()):
        yield from nodes(child, here)


@pytest.mark.parametrize("seed", range(6))
def test_the_inclusive_change_of_a_call_path_is_that_of_infernos_stacks(inferno, tmp_path, seed):
    base, new = profiles(seed, same_stacks=False)
    stacks = [line.rsplit(" ", 2) for line in normalised(inferno, tmp_path, base, new).splitlines()]
    total = sum(new.values())
    # inferno cuts the base's samples of each stack to whole numbers.
    tolerance = 100 * len(stacks) / total + 0.0001

    graph = Graph("new", "", "", call_tree(new), call_tree(base))
    found = list(nodes(graph_data(graph)))

    assert len(found) > 30
    for path, samples, change in found:
        above = [
            (int(before), int(after))
            for stack, before, after in stacks
            if tuple(stack.split(";"))[: len(path)] == path
        ]
        assert samples == sum(after for _, after in above)
        points = 100 * sum(after - before for before, after in above) / total
        assert change == pytest.approx(points, abs=tolerance), path


@pytest.mark.parametrize("seed", range(6))
def test_the_width_and_the_own_change_of_a_frame_are_those_of_infernos_picture(
    inferno, tmp_path, seed
):
    base, new = profiles(seed, same_stacks=True)
    picture = inferno("inferno-flamegraph", text=normalised(inferno, tmp_path, base, new))
    drawn = {found["name"]: found for found in TITLE.finditer(picture)}
    total = sum(new.values())

    compared = compare([ProfiledTrial(base)], [ProfiledTrial(new)])
    changes = {each.function: each for each in compared.changes if each.kind == "self"}
    widths = {path[-1]: samples for path, samples, _ in nodes_of(new) if path}

    assert len(drawn) > 30
    for name, title in drawn.items():
        assert widths[name] == int(title["samples"].replace(",", ""))
        points = 100 * changes[name].share.difference
        assert points == pytest.approx(float(title["d"]), abs=0.0051 + 100 / total), name
    assert {name for name, samples in widths.items() if samples > LEAST_SHARE * total} <= {*drawn}


def nodes_of(stacks):
    tree = call_tree(stacks)
    return nodes(graph_data(Graph("", "", "", tree, tree)))
