"""``tidemark profile``: the functions that take the CPU time of each version."""

from __future__ import annotations

import click

from tidemark.cli.profile import function_shares, growth_table, importing


@click.group("profile")
def command() -> None:
    """Show which functions take the CPU time of each version.

    \b
    Example:
      tidemark profile show rocksdb --function CompactionIterator::Next
    """


command.add_command(importing.command)
command.add_command(function_shares.command)
command.add_command(growth_table.command)
command.add_command(importing.remove)
