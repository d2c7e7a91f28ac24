"""Numbers of options, and what the directions of ``tidemark up`` say."""

import click
import pytest

from onebox.cloud.endpoint import Endpoint
from tidemark.cli.options import NumberType
from tidemark.cli.up import _by_the_aws_cli, _directions
from tidemark.client.deployed import Stack


@pytest.mark.parametrize(
    ("bounds", "text", "expected"),
    [
        ((1, 9999), "1", 1),
        ((1, 9999), "9999", 9999),
        ((1, 9999), "0", "'0' is not accepted; expected a whole number, 1 to 9,999"),
        ((1, 9999), "10000", "'10000' is not accepted; expected a whole number, 1 to 9,999"),
        ((1,), "many", "'many' is not accepted; expected a whole number, 1 or more"),
        ((5,), "4", "'4' is not accepted; expected a whole number, 5 or more"),
    ],
)
def test_a_number_is_within_its_bounds_or_refused_with_them(bounds, text, expected):
    convert = NumberType(*bounds).convert
    if isinstance(expected, int):
        assert convert(text, None, None) == expected
        return
    with pytest.raises(click.BadParameter) as refused:
        convert(text, None, None)
    assert refused.value.message == expected


def test_the_directions_of_a_cloud_are_lines_for_a_shell():
    outputs = {"StateMachine": "arn:machine", "ResultsBucket": "results"}
    endpoint = Endpoint(4566, "key")

    text = _directions(endpoint, *_by_the_aws_cli(Stack("arn:stack", outputs)))

    exports = [f"export {name}={value}" for name, value in endpoint.environment().items()]
    assert "export AWS_ENDPOINT_URL=http://127.0.0.1:4566" in exports
    assert text.splitlines() == [
        *exports,
        "",
        "State machine: arn:machine",
        "Results bucket: results",
        "",
        "Run the lines above in a shell, then start a run:",
        "  aws stepfunctions start-execution --state-machine-arn arn:machine"
        """ --input '{"suite": "rocksdb"}'""",
        "",
        "Ctrl-C takes the cloud down; results and logs are kept.",
    ]
