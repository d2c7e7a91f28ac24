"""``tidemark profile remove``: the way back from an import."""

from __future__ import annotations

import click

from tidemark.cli.chosen_suite import check_suite
from tidemark.cli.target import Target, stored, target_options
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown, there_are
from tidemark.store.profiles.stored_profile import read_profiles, remove_profile


@click.command("remove")
@click.argument("name", metavar="PROFILE")
@click.option("--suite", required=True, callback=check_suite, help="The profiled system.")
@target_options
def command(name: str, suite: str, target: Target) -> None:
    """Remove a profile that was imported by mistake; its file can be imported again.

    \b
    Example:
      tidemark profile remove 20230817T000000Z-0a1b2c --suite rocksdb
    """
    with stored(target) as store:
        known = {each.name: each for each in read_profiles(store.bucket, suite)}
        if name not in known:
            raise Refused(f"PROFILE: {shown(name)} is not stored; {there_are(known, name)}")
        remove_profile(store.bucket, known[name])
    profile = known[name]
    of_test = f" of test {profile.test}" if profile.test else ""
    click.echo(f"Removed {profile.file}, a profile of {profile.version}{of_test}.")
