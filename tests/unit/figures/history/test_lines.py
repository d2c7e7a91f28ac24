"""Release lines of a history."""

import random

from tests.unit.figures.history.test_change_points import level
from tests.unit.figures.history.test_changes import runs_of
from tidemark.figures.history.changes import judged, release_lines


def runs(versions, values=None):
    return runs_of(values or [100.0] * len(versions), version=lambda index: versions[index])


def names(versions):
    main, others, left_out = release_lines(runs(versions))
    return (
        [run.version for run in main],
        {name: [run.version for run in line] for name, line in others.items()},
        [run.version for some in left_out.values() for run in some],
    )


LATER = [f"2.{number}.0" for number in range(8)]
PATCHES = [f"1.9.{number}" for number in range(1, 9)]
BESIDE = [version for both in zip(LATER, PATCHES, strict=True) for version in both]


def test_patches_beside_a_newer_release_have_a_line_with_what_they_patch():
    main, others, left_out = names(["1.8.0", "1.9.0", *BESIDE])

    assert main == ["1.8.0", "1.9.0", *LATER]
    assert others == {"1": ["1.8.0", "1.9.0", *PATCHES]}
    assert left_out == []


def test_a_patch_of_the_same_major_release_belongs_to_its_minor_release():
    minor = [f"2.{number}.0" for number in range(3, 10)]
    patches = [f"2.2.{number}" for number in range(1, 8)]
    _, others, _ = names(["2.2.0", *[v for both in zip(minor, patches, strict=True) for v in both]])

    assert others == {"2.2": ["2.2.0", *patches]}


def test_old_versions_that_are_measured_again_are_no_line():
    main, others, left_out = names(["1.0.0", "1.1.0", "1.2.0", "1.0.0", "1.1.0"])

    assert (len(main), others, left_out) == (3, {}, ["1.0.0", "1.1.0"])


def test_commits_and_tags_without_an_order_are_all_in_the_main_line():
    versions = ["2.0.0", "b6589fc6", "v1.2.0-3-g77de68d", "nightly-2024-01-20", "main"]

    assert names(versions) == (versions, {}, [])


def test_a_commit_of_digits_alone_is_no_old_release():
    commits = ["89592521", "f1abd670", "41483337", "9079ccab", "2f52100d"]

    assert names(commits) == (commits, {}, [])


def test_a_fall_in_one_line_is_seen_in_that_line_alone():
    chance = random.Random(1)
    old, new = level(chance, 20) + level(chance, 10, 70), level(chance, 30)
    versions = [f"{major}.{n}.0" for n in range(30) for major in (1, 2)]
    values = [value for both in zip(old, new, strict=True) for value in both]

    found, untold = judged(runs(versions, values))

    assert [(change.versions, change.word) for change in found] == [
        (("1.19.0", "1.20.0"), "slower")
    ]
    assert not any(each.sentence for each in untold)
