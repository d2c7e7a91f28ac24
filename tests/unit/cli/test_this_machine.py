"""Errors that keep a command from a cloud on this machine."""

import shutil
from types import SimpleNamespace

import click
import pytest

from tidemark.cli import this_machine
from tidemark.cli.this_machine import check_room, check_systems, on_this_machine
from tidemark.model.refusal import Refused


@pytest.mark.parametrize(
    ("place", "reason"),
    [("", "File exists"), ("folder", "Not a directory")],
)
def test_the_error_of_an_unusable_state_folder_is_one_sentence(tmp_path, place, reason):
    file = tmp_path / "file"
    file.touch()

    with (
        pytest.raises(click.ClickException, match=rf"^--state: .* cannot be used: {reason}$"),
        on_this_machine(file / place, shared=True),
    ):
        pass


@pytest.mark.parametrize("name", ["", "mistyped"])
def test_a_reading_command_leaves_a_folder_without_results_unchanged(tmp_path, name):
    folder = tmp_path / name

    with (
        pytest.raises(Refused) as refused,
        on_this_machine(folder, flags=f" --state {folder}"),
    ):
        pass

    assert str(refused.value) == (
        f"--state: {folder} holds no results; expected the state folder of a run "
        f"(`tidemark run --state {folder}` makes one)"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("free", "refused"), [((64 << 20) - 1, True), (64 << 20, False)])
def test_a_cloud_needs_room_on_the_disk_before_it_starts(tmp_path, monkeypatch, free, refused):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))

    if not refused:
        check_room(tmp_path / "new")
        return
    with pytest.raises(Refused, match=r"^--state: 63 MiB are free .*; expected at least 64 MiB$"):
        check_room(tmp_path / "new")


@pytest.mark.parametrize(("systems", "refused"), [("/x", True), ("/mine", False), (None, False)])
def test_a_cloud_of_another_folder_of_suites_is_refused(tmp_path, monkeypatch, systems, refused):
    cloud = SimpleNamespace(pid=7, systems=systems)
    monkeypatch.setattr(this_machine, "find_cloud", lambda _: cloud)
    monkeypatch.setattr(this_machine, "written_systems", lambda: "/mine")

    if not refused:
        check_systems(tmp_path)
        return
    with pytest.raises(Refused) as error:
        check_systems(tmp_path)
    assert str(error.value) == (
        f"--state: process 7 runs the cloud of {tmp_path} with the suites of /x, not of /mine; "
        "give this command another --state, or wait for the end of that process"
    )
