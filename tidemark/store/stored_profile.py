"""Stored profiles: folded stacks, their origin, and their rows in the table ``profiles``."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time
from typing import Any

from tidemark.figures.profiles.call_tree import call_tree, walked
from tidemark.figures.profiles.folded_stacks import SEPARATOR, Stacks
from tidemark.model.plan import Plan
from tidemark.model.profile import Profile
from tidemark.model.results import TestResult, TrialResult
from tidemark.model.run_id import run_id
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.columns import SCHEMA
from tidemark.store.rows import packed

LEAST_SHARE = 0.001
"""The share of all samples that a frame has, or the table leaves it out."""


def digest(stacks: Stacks) -> str:
    """Return the SHA-256 of some stacks as text, in hexadecimal."""
    return hashlib.sha256(_text(stacks)).hexdigest()


def named(profile: Profile) -> Profile:
    """Return a profile with its name: the same stacks on the same day have the same name."""
    begun = datetime.combine(profile.profiled_on, time(tzinfo=UTC))
    mark = ["profile", profile.suite, profile.version, profile.test, profile.digest]
    return profile.model_copy(update={"name": run_id(mark, begun)})


def name_in_run(plan: Plan, trial: TrialResult, test: TestResult) -> str:
    """Return the name of the profile of one test of a profiled trial."""
    mark = ["profile", trial.run_id, trial.trial, test.test]
    return run_id(mark, test.started_at or plan.started_at)


def profiles_of_trials(
    bucket: Bucket, plan: Plan, trials: Iterable[TrialResult], test: str
) -> Iterator[Profile]:
    """Yield the profiles of one test of profiled trials, without those that were removed."""
    for trial in trials:
        for result in (each for each in trial.tests if each.test == test):
            name = name_in_run(plan, trial, result)
            if stored := bucket.find(keys.profile(plan.suite.name, name)):
                yield Profile.model_validate_json(stored.body)


def read_profiles(bucket: Bucket, suite: str) -> list[Profile]:
    """Return the profiles of a suite in the order of their names."""
    found = (key for key in bucket.keys(keys.profiles(suite)) if key.endswith(".json"))
    return [Profile.model_validate_json(bucket.read(key)) for key in found]


def read_stacks(bucket: Bucket, profile: Profile) -> Stacks:
    """Return the stacks of a profile."""
    body = bucket.read(keys.stacks(profile.suite, profile.name))
    # A function's name may have what Python takes for another line end.
    lines = zlib.decompress(body, wbits=31).decode().removesuffix("\n").split("\n")
    pairs = (line.rpartition(" ") for line in lines)
    return {stack: int(samples) for stack, _, samples in pairs}


def add_profile(bucket: Bucket, profile: Profile, stacks: Stacks) -> Profile | None:
    """Store a profile; return the stored one of the same version, test and stacks, if there is one.

    A profile without its stacks is never stored. An addition that is cut off is completed by its
    repetition.
    """
    stored = next(
        (each for each in read_profiles(bucket, profile.suite) if _same(each, profile)), None
    )
    if stored is None:
        write_profile(bucket, profile, stacks)
    elif not any(bucket.keys(keys.table("profiles", profile.suite, stored.name))):
        _write_rows(bucket, stored, stacks)
    return stored


def write_profile(bucket: Bucket, profile: Profile, stacks: Stacks) -> None:
    """Store a profile under its name; a repetition changes nothing."""
    bucket.write(keys.stacks(profile.suite, profile.name), zlib.compress(_text(stacks), wbits=31))
    bucket.write(keys.profile(profile.suite, profile.name), profile.model_dump_json().encode())
    _write_rows(bucket, profile, stacks)


def _write_rows(bucket: Bucket, profile: Profile, stacks: Stacks) -> None:
    rows = keys.table("profiles", profile.suite, profile.name)
    bucket.write(rows, packed(profile_rows(profile, stacks)))


def _same(one: Profile, other: Profile) -> bool:
    return (one.version, one.test, one.digest) == (other.version, other.test, other.digest)


def remove_profile(bucket: Bucket, profile: Profile) -> None:
    """Delete a profile; a removal that is cut off is completed by its repetition."""
    bucket.discard(keys.table("profiles", profile.suite, profile.name))
    # Without its origin a profile is none, so that no reader misses its stacks.
    bucket.discard(keys.profile(profile.suite, profile.name))
    bucket.discard(keys.stacks(profile.suite, profile.name))


def record_profile(bucket: Bucket, suite: str, name: str) -> None:
    """Write the rows of a stored profile again."""
    profile = Profile.model_validate_json(bucket.read(keys.profile(suite, name)))
    _write_rows(bucket, profile, read_stacks(bucket, profile))


def profile_rows(profile: Profile, stacks: Stacks) -> Iterator[dict[str, Any]]:
    """Yield a row for each frame of a profile with ``LEAST_SHARE`` or more."""
    root = call_tree(stacks)
    for path, frame in walked(root, LEAST_SHARE * root.samples):
        yield {
            "run_id": profile.name,
            "version": profile.version,
            "version_order": profile.version_order,
            "test": profile.test,
            "path": SEPARATOR.join(path),
            "function": frame.name,
            "self": frame.own / root.samples,
            "inclusive": frame.samples / root.samples,
            "samples": frame.samples,
            "samples_of_all": root.samples,
            "least_share": LEAST_SHARE,
            "unit": profile.unit,
            "source": profile.origin,
            "schema": SCHEMA,
            "run": profile.run or None,
            "trial": profile.trial,
        }


def _text(stacks: Stacks) -> bytes:
    return "".join(f"{stack} {samples}\n" for stack, samples in sorted(stacks.items())).encode()
