"""``tidemark profile``: the functions of each version, and profiles that others have taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click

from tidemark.cli.chosen_suite import check_suite
from tidemark.cli.options import DayType, NumberType, check_version, day_refusal, source_option
from tidemark.cli.profile import function_shares, growth_table
from tidemark.cli.profile.options import check_test
from tidemark.cli.saving import show
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.profile_file import ReadProfile, read_profile
from tidemark.model.profile import Profile
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown, there_are
from tidemark.store.folded_file import Unreadable
from tidemark.store.stored_profile import add_profile, digest, named, read_profiles, remove_profile

_MILLION = 1_000_000


@click.group("profile")
def command() -> None:
    """Show which functions take the CPU time of each version.

    \b
    Example:
      tidemark profile show rocksdb --function CompactionIterator::Next
    """


command.add_command(function_shares.command)
command.add_command(growth_table.command)


class _Found(NamedTuple):
    """A profile that was read."""

    profile: Profile
    read: ReadProfile


@command.command("import")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--suite", required=True, callback=check_suite, help="The profiled system.")
@click.option("--version", required=True, callback=check_version, help="The profiled version.")
@click.option("--test", default="", callback=check_test, help="The profiled test, such as q100.")
@click.option(
    "--date",
    "profiled_on",
    type=DayType(),
    metavar="YYYY-MM-DD",
    help="Day of the profile; if not given, today.",
)
@source_option
@click.option(
    "--cpu-seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="CPU time of the profile [s].",
)
@click.option("--records", type=NumberType(1), help="Records that were processed in that time.")
@target_options
def import_profiles(
    files: Sequence[Path],
    suite: str,
    version: str,
    test: str,
    profiled_on: datetime | None,
    source: str,
    cpu_seconds: float | None,
    records: int | None,
    target: Target,
) -> None:
    """Add profiles of one version to the stored results.

    Each FILE is one profile, of one trial: folded stacks, also of async-profiler, the text of perf
    script, pprof, or a flame graph as an SVG. gzip may pack it. A profile that is stored already is
    not added again. Nothing is stored if one FILE cannot be read.

    With --cpu-seconds and --records, comparisons also tell the CPU time per million records.

    \b
    Example:
      tidemark profile import all.svg --suite rocksdb --version 8.8.1 --test ingest
    """
    today = datetime.now(UTC).date()
    day = profiled_on.date() if profiled_on else today
    if refusal := day_refusal(day, today):
        raise Refused(f"--date: {refusal}")
    profile = Profile(
        name="",
        suite=suite,
        version=version,
        test=test,
        profiled_on=day,
        samples=0,
        unit="",
        form="",
        file="",
        source=source,
        imported_on=today,
        digest="",
        seconds=_seconds(cpu_seconds, records, files),
    )
    found = [_found(file, profile) for file in files]
    with stored(target, new=True) as results:
        known = [add_profile(results.bucket, each.profile, each.read.stacks) for each in found]
    _print([each for each, stored_one in zip(found, known, strict=True) if stored_one is None])
    number = sum(each is None for each in known)
    already = f"{len(known) - number:,} stored already"
    click.echo(f"{plural(number, 'profile')} added, {already}.")


def _seconds(cpu_seconds: float | None, records: int | None, files: Sequence[Path]) -> float | None:
    """Return the CPU time per million records [s], None if it is not known."""
    if (cpu_seconds is None) != (records is None):
        raise Refused("--cpu-seconds and --records go together; expected both or neither")
    if cpu_seconds is None or records is None:
        return None
    if not math.isfinite(cpu_seconds):
        raise Refused(f"--cpu-seconds: {cpu_seconds} is not accepted; expected a number of seconds")
    if len(files) > 1:
        raise Refused(f"--cpu-seconds belongs to one profile; expected one FILE, not {len(files)}")
    return cpu_seconds / records * _MILLION


def _found(file: Path, profile: Profile) -> _Found:
    if not file.name.isprintable():
        raise Refused(f"FILE: {shown(file.name)} is not accepted; expected printable characters")
    try:
        read = read_profile(file)
    except Unreadable as error:
        raise Refused(f"FILE: {file.name}: {error}") from None
    of_file = {
        "samples": sum(read.stacks.values()),
        "unit": read.unit,
        "drawn": read.drawn,
        "form": read.form,
        "file": file.name,
        "digest": digest(read.stacks),
    }
    return _Found(named(profile.model_copy(update=of_file)), read)


def _print(added: Sequence[_Found]) -> None:
    rows = [
        {
            "Profile": each.profile.name,
            "Version": each.profile.version,
            "Test": each.profile.test,
            "File": each.profile.file,
            "Form": each.profile.form,
            "Samples": f"{each.profile.samples:,}",
            "Unit": each.profile.unit,
            "Stacks": f"{len(each.read.stacks):,}",
        }
        for each in added
    ]
    if rows:
        show(list(rows[0]), rows, "table")


@command.command()
@click.argument("name", metavar="PROFILE")
@click.option("--suite", required=True, callback=check_suite, help="The profiled system.")
@target_options
def remove(name: str, suite: str, target: Target) -> None:
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
