"""Functions that took more CPU time, from the profiles of trials."""

import random

import pytest

from tidemark.figures.profiles.folded_stacks import renames
from tidemark.figures.profiles.growth import FunctionChange, ProfiledTrial, compare
from tidemark.figures.profiles.growth_sentence import growth_sentence
from tidemark.figures.verdicts.welch import TrialChange, TrialValues, change

STACKS = {
    "low;Compact;Next<int>(int)": 300,
    "low;Compact;Add": 200,
    "low;Compact;Add;memcpy": 100,
    "one;Write;Insert": 300,
    "one;Write": 100,
}


def trials(seed, shares, number=5, samples=1000, seconds=None):
    """Return trials whose samples are drawn: a profile is a sample."""
    drawn = random.Random(seed)
    stacks, weights = list(shares), list(shares.values())
    found = []
    for _ in range(number):
        # The machine scatters, too.
        jittered = [weight * drawn.uniform(0.9, 1.1) for weight in weights]
        counts = {}
        for stack in drawn.choices(stacks, jittered, k=samples):
            counts[stack] = counts.get(stack, 0) + 1
        found.append(ProfiledTrial(counts, seconds and seconds * drawn.uniform(0.98, 1.02)))
    return found


def told(comparison):
    return [(each.function, each.kind) for each in comparison.changes if each.is_told]


def of(comparison, function, kind):
    (found,) = [
        each for each in comparison.changes if (each.function, each.kind) == (function, kind)
    ]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_two_builds_that_spend_their_time_alike_have_nothing_to_tell(seed):
    assert told(compare(trials(seed, STACKS), trials(seed + 50, STACKS))) == []


def test_the_function_that_burns_the_time_comes_first(tmp_path):
    burning = {**STACKS, "low;Compact;Next<int>(int)": 700}

    found = compare(trials(1, STACKS), trials(2, burning))

    assert told(found)[0] == ("Next", "self")
    assert ("Compact", "inclusive") in told(found)
    change = of(found, "Next", "self").share
    assert change.base == pytest.approx(0.3, abs=0.03)
    assert change.new == pytest.approx(0.5, abs=0.03)
    assert change.difference - change.half_width < 0.2 < change.difference + change.half_width


def test_a_time_grows_while_all_shares_stay_equal():
    base, new = trials(1, STACKS, seconds=2.0), trials(2, STACKS, seconds=3.0)

    found = compare(base, new)

    assert {function for function, _ in told(found)} == {
        "Next", "Add", "memcpy", "Insert", "Write", "Compact", "low", "one",
    }  # fmt: skip
    seconds = of(found, "Next", "self").seconds
    assert seconds.base == pytest.approx(0.6, abs=0.06)
    assert seconds.new == pytest.approx(0.9, abs=0.09)
    assert of(found, "Next", "self").judged == seconds
    # A time that some trial lacks tells nothing.
    assert told(compare(base, [*new[:4], ProfiledTrial(new[4].stacks)])) == []


def test_a_frame_that_one_build_inlines_is_left_out_and_listed_apart():
    inlined = {"low;Compact;Next<int>(int)": 300, "low;Compact;Add": 300, "one;Write;Insert": 300,
               "one;Write;Log": 100}  # fmt: skip

    found = compare(trials(1, STACKS), trials(2, inlined))

    assert told(found) == []
    assert [(each.function, round(each.own, 1)) for each in found.gone] == [("memcpy", 0.1)]
    assert [(each.function, round(each.inclusive, 1)) for each in found.come] == [("Log", 0.1)]
    assert of(found, "Add", "self").share.base == pytest.approx(0.3, abs=0.03)


def test_a_function_that_few_samples_miss_by_chance_is_not_left_out():
    helpers = {f"low;Compact;helper{n}": 2 for n in range(400)}
    stacks = {"low;Compact": 1_000, "one;Write;Insert": 8_200, **helpers}
    many, few = trials(1, stacks, samples=10_000), trials(2, stacks, samples=1_000)

    for found in (compare(many, few), compare(few, many)):
        assert told(found) == []
        assert (found.gone, found.come, found.renamed) == ([], [], {})
        compact = of(found, "Compact", "self").share
        assert compact.base == pytest.approx(0.1, abs=0.01)
        assert compact.new == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("drawn", "gone"), [(699, []), (700, ["memcpy"])])
def test_a_function_is_gone_if_seven_samples_of_it_would_be_expected(drawn, gone):
    base = ProfiledTrial({"Add": 99_000, "Add;memcpy": 1_000})

    found = compare([base], [ProfiledTrial({"Add": drawn - 1, "Next": 1})])

    assert [each.function for each in found.gone] == gone


@pytest.mark.parametrize("scale", [1, 10])
def test_round_numbers_of_samples_are_no_weights(scale):
    base = ProfiledTrial({"main;func3;leaf": 40 * scale, "main;other": 60 * scale})
    new = ProfiledTrial({"main;func4;leaf": 60 * scale, "main;other": 40 * scale})

    found = compare([base], [new])

    assert found.renamed == {"func3": "func4"}
    assert of(found, "func4", "inclusive").share[:2] == (0.4, 0.6)


def test_the_number_of_samples_is_known_where_their_weights_differ():
    weighted = [ProfiledTrial({"a": 20_000_003, "b": 80_000_001}, drawn=100)] * 3
    counted = [ProfiledTrial({"a": 20, "b": 80})] * 3

    widths = [of(compare(s, s), "a", "self").share.half_width for s in (weighted, counted)]

    assert widths[0] == pytest.approx(widths[1], rel=1e-6)


def test_one_profile_a_side_shows_a_change_and_tells_nothing():
    burning = {**STACKS, "low;Compact;Next<int>(int)": 3000}

    found = compare([ProfiledTrial(STACKS)], [ProfiledTrial(burning)])

    assert told(found) == []
    assert of(found, "Next", "self").share == (0.3, 3000 / 3700, None, 1.0)
    assert found.changes[0].function == "Next"


def test_a_recursive_function_counts_each_sample_once():
    found = compare([ProfiledTrial({"a;b;a": 1, "c": 1})], [ProfiledTrial({"a;b;a": 1, "c": 1})])

    assert of(found, "a", "inclusive").share[:2] == (0.5, 0.5)


def test_rare_functions_are_not_compared():
    rare = {"a": 1_000_000, "b": 10}

    assert {
        each.function for each in compare([ProfiledTrial(rare)], [ProfiledTrial(rare)]).changes
    } == {"a"}


def test_equal_profiles_have_an_interval_from_chance_alone():
    same = [ProfiledTrial({"a": 21, "b": 79})] * 3

    share = of(compare(same, same), "a", "self").share

    assert (share.difference, share.p_value) == (0.0, 1.0)
    assert share.half_width == pytest.approx(0.092, abs=0.001)
    # A profiler may weigh each sample by its period, which gives no more samples.
    weighed = [ProfiledTrial({"a": 21_000_000, "b": 79_000_000})] * 3
    assert of(compare(weighed, weighed), "a", "self").share == share


def test_a_change_without_any_scatter_is_told():
    assert change(TrialValues([1.0, 1.0], 0.0), TrialValues([2.0, 2.0], 0.0))[2:] == (0.0, 0.0)
    assert change(TrialValues([1.0, 1.0], 0.0), TrialValues([1.0, 1.0], 0.0))[2:] == (0.0, 1.0)


def test_the_interval_is_that_of_welch():
    # Source: R, t.test(c(2, 4, 6, 9), c(1, 2, 2)), with its degrees of freedom (3.28) rounded down.
    found = change(TrialValues([1.0, 2.0, 2.0], 0.0), TrialValues([2.0, 4.0, 6.0, 9.0], 0.0))

    assert found.difference == pytest.approx(3.5833, abs=1e-4)
    assert found.half_width == pytest.approx(3.1824 * 1.5298, abs=1e-3)


CLOSURES = {"main.Run;main.Run.func3;main.Serve": 71, "main.Run;main.Run.func3;json.Marshal": 29}
RENAMED = {"main.Run;main.Run.func4;main.Serve": 81, "main.Run;main.Run.func4;json.Marshal": 19}


def functions(stacks):
    return {name for stack in stacks for name in stack.split(";")}


def matched(base, new):
    before, after = functions(base), functions(new)
    return renames(base, new, before - after, after - before)


@pytest.mark.parametrize("scale", [1, 1000])
def test_a_renumbered_closure_is_the_same_whatever_divides_the_counts(scale):
    base, new = (
        {f"main;{name};leaf": count * scale, "main;other": (100 - count) * scale}
        for name, count in (("func3", 40), ("func4", 60))
    )

    found = compare([ProfiledTrial(base)], [ProfiledTrial(new)])

    assert found.renamed == {"func3": "func4"}
    assert of(found, "func4", "inclusive").share.difference == pytest.approx(0.2)


def test_a_renumbered_closure_is_the_same_function():
    assert matched(CLOSURES, RENAMED) == {"main.Run.func3": "main.Run.func4"}

    found = compare([ProfiledTrial(CLOSURES)], [ProfiledTrial(RENAMED)])

    assert (found.gone, found.come) == ([], [])
    assert found.renamed == {"main.Run.func3": "main.Run.func4"}
    assert of(found, "main.Run.func4", "inclusive").share.difference == 0


@pytest.mark.parametrize(
    ("base", "new", "found"),
    [
        # Another name: callers and children have to be the same.
        ({"a;old;b": 5, "a;old;c": 5}, {"a;new;b": 6, "a;new;c": 4}, {"old": "new"}),
        ({"a;old;b": 5}, {"a;new;d": 5, "b": 1}, {}),
        ({"a;old": 5}, {"a;new": 5}, {}),
        ({"a;old;b": 5, "z": 1}, {"z;new;b": 5, "a": 1}, {}),
        # A leaf, and closures within closures, by their numbers.
        ({"a;f.func1": 5}, {"a;f.func2": 5}, {"f.func1": "f.func2"}),
        ({"a;f1;f1.g1": 5}, {"a;f2;f2.g7": 5}, {"f1": "f2", "f1.g1": "f2.g7"}),
        # Two that are alike: each is matched once, the likest first.
        (
            {"a;f1;b": 9, "a;f1;c": 1, "a;f2;c": 9, "a;f2;b": 1},
            {"a;f3;c": 9, "a;f3;b": 1, "a;f4;b": 9, "a;f4;c": 1},
            {"f1": "f4", "f2": "f3"},
        ),
        # Each pair is compared: of thousands of rare functions there are too many.
        ({"a": 998, "a;f1": 1}, {"a": 998, "a;f2": 1}, {"f1": "f2"}),
        ({"a": 1_000, "a;f1": 1}, {"a": 1_000, "a;f2": 1}, {}),
    ],
)  # fmt: skip
def test_functions_with_other_names_are_matched_by_callers_and_children(base, new, found):
    assert matched(base, new) == found


SHARE = TrialChange(0.3, 0.5, 0.04, 0.0)
TIME = TrialChange(0.6, 0.9, 0.03, 0.0)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            FunctionChange("Next", "self", SHARE, None, 0.01),
            "Next itself grew from 30.00 % to 50.00 % of all samples "
            "(+20.00 points, 95 % interval +16.00 to +24.00 points).",
        ),
        (
            FunctionChange("Next", "inclusive", TrialChange(0.5, 0.3, None, 1.0), None, 0.01),
            "Next with all that it calls shrank from 50.00 % to 30.00 % of all samples "
            "(−20.00 points).",
        ),
        (
            FunctionChange("Next", "self", SHARE, TIME, 0.01),
            "Next itself grew from 0.6000 to 0.9000 s of CPU time per million records "
            "(+50.0 %, 95 % interval +45.0 to +55.0 %).",
        ),
        (
            FunctionChange("Next", "self", SHARE, TrialChange(0.0, 0.9, 0.03, 0.0), 0.01),
            "Next itself grew from 0.0 to 0.9000 s of CPU time per million records.",
        ),
    ],
)
def test_a_change_is_told_in_a_sentence(found, sentence):
    assert growth_sentence(found) == sentence
