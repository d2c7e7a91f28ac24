"""The scripts of the dashboard's page write numbers and answers as Python does."""

import json
import random
import subprocess

import pytest

from tidemark.model.checkout import ROOT
from tidemark.model.numerals import (
    RULES,
    decimal,
    delta,
    figure,
    percent,
    percent_change,
    percent_places,
    signed,
    span,
)
from tidemark.report.marks import CHANGES, MARKS, MOST_NAMES, first_names, marked

FOLDER = ROOT / "tidemark" / "dashboard"
WORDS = {"marks": MARKS, "changes": CHANGES, "most_names": MOST_NAMES}
# An element is its text.
ELEMENTS = "const made = (name, properties, ...children) => children.join('');"
# An element has its children and what a click does.
DOCUMENT = """
const document = {
  createElement: (name) => ({
    name,
    children: [],
    setAttribute() {},
    focus() {},
    append(...children) { this.children.push(...children); },
    replaceChildren(...children) { this.children = children; },
    addEventListener(_, act) { this.click = act; },
    querySelectorAll() { return buttonsOf(this); },
  }),
};
const [headOf, bodyOf] = [1, 2].map((place) => (drawn) => drawn.children[place]);
const buttonsOf = (drawn) => headOf(drawn).children[0].children.map(({ children }) => children[0]);
const textsOf = (drawn) =>
  bodyOf(drawn).children.map(({ children }) => children.map((cell) => cell.children[0]));
"""


def run(scripts, expression, given, elements=ELEMENTS):
    """Return the value of an expression of JavaScript over ``given``."""
    data = {"rules": RULES._asdict(), "words": WORDS, "given": given}
    text = "\n".join(
        [
            *(f"const {name} = {json.dumps(value)};" for name, value in data.items()),
            elements,
            *((FOLDER / name).read_text(encoding="utf-8") for name in scripts),
            f"process.stdout.write(JSON.stringify({expression}));",
        ]
    )
    done = subprocess.run(["node"], input=text, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def numbers():
    """Return numbers of every size and sign, ties of rounding, and powers of ten."""
    drawn = random.Random(38)
    sizes = [drawn.uniform(1, 10) * 10.0 ** drawn.randint(-12, 17) for _ in range(400)]
    ties = [count / 8 for count in range(64)] + [0.5, 2.5, 1234.5, 0.005, 1.005, 99.995, 99.995]
    powers = [10.0**power for power in range(-11, 18)]
    found = [0.0, *sizes, *ties, *powers]
    return found + [-each for each in found]


def shares():
    drawn = random.Random(39)
    return [drawn.choice((-1, 1)) * 10 ** drawn.uniform(-5, 2) for _ in range(300)] + [0.0, 1.0]


def test_a_figure_has_the_digits_that_python_gives_it():
    given = numbers()

    assert run(["numbers.js"], "given.map(figureText)", given) == list(map(figure, given))


@pytest.mark.parametrize("places", [0, 1, 2, 4])
def test_a_number_with_fixed_places_is_rounded_as_python_does(places):
    given = [each for each in numbers() if abs(each) < 1e15]

    found = run(["numbers.js"], f"given.map((each) => decimal(each, {places}))", given)
    assert found == [decimal(each, places) for each in given]
    found = run(["numbers.js"], f"given.map((each) => signed(each, {places}))", given)
    assert found == [signed(each, places) for each in given]


@pytest.mark.parametrize(("direction", "unit"), [("lower", "ms"), ("lower", "B"), ("higher", "s")])
def test_a_change_and_its_interval_are_written_as_python_does(direction, unit):
    given = [[share, share - abs(share) / 7, share + abs(share) / 3] for share in shares()]

    found = run(
        ["numbers.js"],
        "given.map(([share, low, high]) => [percentPlaces(low, high),"
        f" delta(share, {direction!r}, {unit!r}, 2), span(low, high, {direction!r}, 1),"
        " percent(share, 2), percentChange(share, 1)])",
        given,
    )

    assert found == [
        [
            percent_places(low, high), delta(share, direction, unit), span(low, high, direction,
            unit, 1), percent(share), percent_change(share, 1),
        ]
        for share, low, high in given
    ]  # fmt: skip


def test_an_interval_that_is_missing_has_the_places_that_python_gives_it():
    given = [[None, None], [0.1, 0.1]]

    found = run(["numbers.js"], "given.map(([low, high]) => percentPlaces(low, high))", given)
    assert found == [percent_places(low, high) for low, high in given]


def test_an_answer_has_the_words_of_a_report():
    drawn = random.Random(40)
    words = [drawn.choice(list(MARKS)) for _ in range(40)]
    rows = [
        {
            "suite": "kiwi", "base_version": "1", "new_version": "2", "rate": f"rate {at} (ms)",
            "qualified_verdict": word, "effect": effect, "low": effect - 0.01, "high": effect + 0.1,
            "direction": "lower", "unit": "ms", "unlike": None,
        }
        for at, word in enumerate(words)
        for effect in [drawn.uniform(-0.5, 3)]
    ]  # fmt: skip
    names = {}
    for at, row in enumerate(rows):
        places = percent_places(row["low"], row["high"])
        changed = row["qualified_verdict"].startswith(CHANGES)
        size = f" ({delta(row['effect'], 'lower', 'ms', places)})" if changed else ""
        names.setdefault(row["qualified_verdict"], []).append(f"rate {at}{size}")

    (text,) = run(["numbers.js", "figures.js", "answers.js"], "answers(given)", rows)

    told = [f"{marked(word)}: {first_names(names[word])}" for word in MARKS if word in names]
    assert text == f"kiwi 2 against 1: {'; '.join(told)}."
    assert names.keys() == MARKS.keys()


def test_a_long_table_is_sorted_by_all_its_lines_and_shows_the_first():
    drawing = """(() => {
      const format = { kind: "text" };
      const lines = given.map((trial) => ({ values: [trial], row: { trial } }));
      const field = { label: "Trial", column: { name: "trial" }, format };
      const [drawn] = sortable({ title: "Trials" }, [field], lines).children;
      const click = () => buttonsOf(drawn)[0].click();
      return [() => {}, click, click].map((act) => (act(), textsOf(drawn).flat()));
    })()"""
    given = [place * 7 % 600 for place in range(600)]

    scripts = ["numbers.js", "figures.js", "answers.js", "tables.js"]
    first, ascending, descending = run(scripts, drawing, given, DOCUMENT)

    assert first == given[:500]
    assert (ascending, descending) == (list(range(500)), list(range(599, 99, -1)))
