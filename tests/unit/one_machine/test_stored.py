"""The name of the results bucket on one machine."""

import pytest

from tidemark.one_machine.stored import own_bucket, results_bucket


@pytest.mark.parametrize(
    ("buckets", "name"),
    [
        (["perf-resultsbucket0a1b", "perf-resultsbucket9z"], "perf-resultsbucket0a1b"),
        (["perf-x"], "perf-resultsbucket46167c27"),
        ([], "perf-resultsbucket46167c27"),
    ],
)
def test_the_results_bucket_is_that_of_the_stack_or_the_one_that_a_cloud_makes(buckets, name):
    class Files:
        def buckets(self, after):
            return (each for each in buckets if each > after)

    assert results_bucket(Files(), "Perf") == name


def test_the_bucket_of_a_long_stack_has_a_name_that_s3_accepts():
    assert own_bucket("S" * 60) == f"{'s' * 60}-re"
