"""What ``tidemark compare`` refuses before it asks anything."""

import pytest
from click.testing import CliRunner

from local.commands.compare import command
from suites.refusal import Refused


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9.0.0", "9.8.4", "--output", "/nowhere/a.md"], "--output: there is no folder /nowhere"),
        (["9.0.0", "9.8.4", "--suite", "nope"], "suite: 'nope' is not known; there are rocksdb"),
        (["../9.0.0", "9.8.4"], "BASE: '../9.0.0' names no version and no run; "),
        (["9.0.0", "9.8.4; --"], "NEW: '9.8.4; --' names no version and no run; "),
    ],
)
def test_what_is_refused_before_anything_is_asked(arguments, sentence):
    done = CliRunner().invoke(command, arguments)

    assert isinstance(done.exception, Refused)
    assert str(done.exception).startswith(sentence)
