"""What keeps a command from having a cloud on this machine."""

import click
import pytest

from local.commands.this_machine import on_this_machine


@pytest.mark.parametrize(
    ("place", "why"),
    [("", "File exists"), ("folder", "Not a directory")],
)
def test_a_state_folder_that_cannot_be_made_is_one_sentence(tmp_path, place, why):
    file = tmp_path / "file"
    file.touch()

    with (
        pytest.raises(click.ClickException, match=rf"^--state: .* cannot be used: {why}$"),
        on_this_machine(file / place),
    ):
        pass
