import pytest

from tidemark.cli.set_option import parsed, resolved, split, split_axes
from tidemark.model.refusal import Refused
from tidemark.model.suite_files import read_suites


def test_settings_have_the_types_that_the_suite_declares():
    texts = split(["records=500000", "codec=a=b"])

    assert parsed(texts, read_suites()["rocksdb"]) == {"records": 500_000, "codec": "a=b"}


def test_an_axis_has_several_values():
    given = ["database=postgresql, mariadb", "codec=lz4"]

    assert split_axes(given) == {"database": ["postgresql", "mariadb"], "codec": ["lz4"]}


def test_an_axis_that_stands_twice_is_refused():
    with pytest.raises(Refused, match="--axis: 'codec=zstd' is not accepted; expected NAME=VALUE"):
        split_axes(["codec=lz4", "codec=zstd"])


@pytest.mark.parametrize("settings", [["records"], ["=5"], ["records=5", "records=6"]])
def test_a_setting_without_a_name_of_its_own_is_refused(settings):
    with pytest.raises(Refused) as refused:
        split(settings)

    assert str(refused.value) == (
        f"--set: {settings[-1]!r} is not accepted; expected NAME=VALUE, each name once"
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"parameters": {"recrds": 4}}, "--set: rocksdb has no 'recrds'; there are records, tasks"),
        ({"parameters": {"records": 0}}, "--set records: 0 is not accepted; expected a whole"),
        (
            {"axes": {"codec": ["lz4"]}},
            "--axis: rocksdb has no 'codec'; the suite declares no axes; leave it out",
        ),
    ],
)
def test_a_refusal_has_the_name_of_the_option(fields, sentence):
    suite = read_suites()["rocksdb"]

    with pytest.raises(Refused) as refused:
        resolved({"suite": "rocksdb", **fields}, suite)

    assert str(refused.value).startswith(sentence)
