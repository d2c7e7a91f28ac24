"""The digests that a deployment states of its copies of the suites."""

from tidemark.client.deployed import Stack
from tidemark.model.checkout import ROOT
from tidemark.model.suite_asset import copy_digest, programs_digest
from tidemark.model.suite_files import read_suites


def test_commands_find_the_digests_of_the_suites_among_the_outputs(template):
    value = template.find_outputs("Suites")["Suites"]["Value"]
    stack = Stack("", {"Suites": value})

    for name, suite in read_suites().items():
        assert stack.digests(name) == (copy_digest(suite, ROOT), programs_digest(suite, ROOT))
    assert stack.digests("unknown") == ("", "")
