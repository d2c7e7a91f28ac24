"""The note by which a cloud is found, and the folder that holds it."""

import json
import stat
import subprocess
import sys

import pytest

from onebox.cloud.cloud_note import announced, describe, find_cloud, make_private

ABOUT = {"app": "fruit"}
TEMPLATE = {
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"Topic": {"Value": {"Ref": "Topic"}}},
}


@pytest.fixture
def stack(endpoint):
    endpoint.client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(TEMPLATE))
    return describe(endpoint.client("cloudformation"), "s")


def change(state, **fields):
    note = state / "cloud.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | fields))


def test_a_running_cloud_is_found_with_its_stack(endpoint, stack, tmp_path):
    with announced(tmp_path, endpoint, stack.arn, ABOUT):
        cloud = find_cloud(tmp_path)
        assert cloud
        assert (cloud.endpoint, cloud.stack) == (endpoint, stack)
        assert cloud.about == ABOUT
    assert list(tmp_path.iterdir()) == []
    assert find_cloud(tmp_path) is None


def test_only_its_user_can_read_the_key_in_the_note(endpoint, stack, tmp_path):
    with announced(tmp_path, endpoint, stack.arn, ABOUT):
        assert stat.S_IMODE((tmp_path / "cloud.json").stat().st_mode) == 0o600


def test_the_note_of_a_dead_process_is_ignored(endpoint, stack, tmp_path):
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    with announced(tmp_path, endpoint, stack.arn, ABOUT):
        change(tmp_path, pid=died.pid)
        assert find_cloud(tmp_path) is None


def test_another_cloud_on_the_same_port_is_ignored(endpoint, stack, tmp_path):
    other = stack.arn.rsplit("/", 1)[0] + "/0"
    with announced(tmp_path, endpoint, other, ABOUT):
        assert find_cloud(tmp_path) is None


def test_a_port_without_an_answer_is_no_cloud(endpoint, stack, tmp_path):
    with announced(tmp_path, endpoint, stack.arn, ABOUT):
        change(tmp_path, port=1)
        assert find_cloud(tmp_path) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"port": "4566@192.0.2.1"},
        {"port": 1 << 16},
        {"port": None},
        {"key": None},
        {"pid": "1"},
        {"pid": 1 << 70},
    ],
)
def test_a_note_without_a_cloud_of_this_machine_is_ignored(endpoint, stack, tmp_path, fields):
    with announced(tmp_path, endpoint, stack.arn, ABOUT):
        change(tmp_path, **fields)
        assert find_cloud(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"port": 1}'])
def test_an_incomplete_note_is_ignored(tmp_path, text):
    (tmp_path / "cloud.json").write_text(text)
    assert find_cloud(tmp_path) is None


def mode(folder):
    return stat.S_IMODE(folder.stat().st_mode)


def test_a_new_folder_is_for_its_user_alone(tmp_path):
    make_private(tmp_path / "a" / "state")

    assert mode(tmp_path / "a" / "state") == 0o700


def test_an_open_folder_is_closed_to_other_users(tmp_path):
    tmp_path.chmod(0o775)
    make_private(tmp_path)

    assert mode(tmp_path) == 0o700


def test_an_open_note_of_the_key_is_closed_to_other_users(tmp_path):
    note = tmp_path / "cloud.json"
    note.touch(mode=0o644)
    make_private(tmp_path)

    assert mode(note) == 0o600


def test_a_folder_that_all_users_share_is_refused_and_stays_as_it_is(tmp_path):
    tmp_path.chmod(0o1777)

    with pytest.raises(PermissionError, match="all users share this folder"):
        make_private(tmp_path)
    assert mode(tmp_path) == 0o1777
