"""What keeps a command from having a cloud on this machine."""

import click
import pytest

from local.commands.this_machine import on_this_machine
from suites.refusal import Refused


@pytest.mark.parametrize(
    ("place", "why"),
    [("", "File exists"), ("folder", "Not a directory")],
)
def test_a_state_folder_that_cannot_be_made_is_one_sentence(tmp_path, place, why):
    file = tmp_path / "file"
    file.touch()

    with (
        pytest.raises(click.ClickException, match=rf"^--state: .* cannot be used: {why}$"),
        on_this_machine(file / place, shared=True),
    ):
        pass


@pytest.mark.parametrize("name", ["", "mistyped"])
def test_who_only_reads_makes_nothing_of_a_folder_without_results(tmp_path, name):
    folder = tmp_path / name

    with (
        pytest.raises(Refused) as refused,
        on_this_machine(folder, flags=f" --state {folder}"),
    ):
        pass

    assert str(refused.value) == (
        f"--state: {folder} holds no results; expected the folder of a run, which "
        f"`tidemark run --state {folder}` would make of it"
    )
    assert list(tmp_path.iterdir()) == []
