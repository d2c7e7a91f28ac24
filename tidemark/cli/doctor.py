"""``tidemark doctor``: what is damaged in a state folder, and its repair."""

from __future__ import annotations

from pathlib import Path

import click

from onebox.cloud.cloud_note import find_cloud
from onebox.store.index import ObjectFilesError
from tidemark.cli.options import state_flag, state_option
from tidemark.cli.this_machine import await_files, check_room, check_state, in_use
from tidemark.model.checkout import written_stack
from tidemark.model.refusal import Refused


@click.command(name="doctor")
@click.option(
    "--repair", is_flag=True, help="Mend damaged files; move aside those that cannot be mended."
)
@state_option
def command(repair: bool, state: Path) -> None:
    """Check everything that is stored, and say what is damaged.

    --repair makes damaged files again from other files. It moves a file that it cannot make again
    into the folder `damaged` of the state folder, and deletes nothing.

    The exit code is 0 if everything is whole or mended, 1 if something is damaged or lost, and 2 if
    another process uses the folder.

    \b
    Example:
      tidemark doctor --repair
    """
    check_state(state, state_flag(state))
    if found := find_cloud(state):
        raise Refused(in_use(state, found.endpoint, found.pid).message)
    await_files(state)
    if repair:
        # A repair of the index writes another one beside it, and links the files of the objects.
        check_room(state, sum(file.stat().st_size for file in state.glob("objects/index.sqlite*")))
    # The import of what writes reports takes time, which a refusal does not need.
    from onebox.doctor import examine  # noqa: PLC0415
    from tidemark.one_machine.contents import StackContents  # noqa: PLC0415

    damaged = harmless = lost = 0
    try:
        for finding in examine(state, StackContents(written_stack())):
            damaged += not finding.harmless
            harmless += finding.harmless
            click.echo(f"{finding.problem}; --repair {finding.remedy}.")
            lost += bool(repair and not finding.repair())
    except ObjectFilesError as error:
        raise click.ClickException(str(error)) from None
    if lost:
        every = damaged + harmless
        raise click.ClickException(f"{lost} of {every} could not be mended; see {state}/damaged")
    if damaged and not repair:
        hint = f"`tidemark doctor --repair{state_flag(state)}` mends what it can"
        raise click.ClickException(f"{damaged} damaged; {hint}")
    if damaged:
        click.echo(f"All {damaged} are mended.")
    else:
        click.echo(f"Everything {'else ' if harmless else ''}in {state} is whole.")
