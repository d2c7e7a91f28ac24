"""How a cloud that is up is found, and one that is not is not."""

import json
import subprocess
import sys

import pytest

from local.presence import announced, find_cloud
from local.stack import find_stack

TEMPLATE = {
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"Topic": {"Value": {"Ref": "Topic"}}},
}


@pytest.fixture
def stack(endpoint):
    endpoint.client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(TEMPLATE))
    return find_stack(endpoint.client("cloudformation"), "s")


def change(state, **said):
    note = state / "cloud.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | said))


def test_a_cloud_that_is_up_is_found_with_its_stack(endpoint, stack, tmp_path):
    with announced(tmp_path, endpoint, stack.arn):
        found = find_cloud(tmp_path)
        assert found
        assert (found.endpoint, found.stack) == (endpoint, stack)
    assert list(tmp_path.iterdir()) == []
    assert find_cloud(tmp_path) is None


def test_a_note_of_a_process_that_has_died_is_ignored(endpoint, stack, tmp_path):
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    with announced(tmp_path, endpoint, stack.arn):
        change(tmp_path, pid=died.pid)
        assert find_cloud(tmp_path) is None


def test_another_cloud_on_the_same_port_is_not_taken_for_it(endpoint, stack, tmp_path):
    other = stack.arn.rsplit("/", 1)[0] + "/0"
    with announced(tmp_path, endpoint, other):
        assert find_cloud(tmp_path) is None


def test_a_port_where_nobody_answers_is_no_cloud(endpoint, stack, tmp_path):
    with announced(tmp_path, endpoint, stack.arn):
        change(tmp_path, url="http://localhost:1")
        assert find_cloud(tmp_path) is None


@pytest.mark.parametrize(
    "said",
    [
        {"url": "http://192.0.2.1:4566"},
        {"url": "http://localhost:4566@192.0.2.1"},
        {"url": None},
        {"pid": "1"},
        {"pid": 1 << 70},
    ],
)
def test_a_note_that_does_not_name_a_cloud_of_this_machine_is_ignored(
    endpoint, stack, tmp_path, said
):
    with announced(tmp_path, endpoint, stack.arn):
        change(tmp_path, **said)
        assert find_cloud(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": "http://localhost:1"}'])
def test_half_a_note_is_none(tmp_path, text):
    (tmp_path / "cloud.json").write_text(text)
    assert find_cloud(tmp_path) is None
