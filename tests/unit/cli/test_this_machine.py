"""Errors that keep a command from a cloud on this machine."""

import click
import pytest

from tidemark.cli.this_machine import on_this_machine
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
