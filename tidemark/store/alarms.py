"""The alarms of a suite's changes of level: ``history/<suite>/alarms.json``."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import TypeAdapter

from tidemark.model.outcome import LevelAlarm
from tidemark.store import keys
from tidemark.store.bucket import Bucket

_Alarms = tuple[LevelAlarm, ...]


def read_alarms(bucket: Bucket, suite: str) -> _Alarms:
    """Return every alarm of a suite."""
    stored = bucket.find(keys.alarms(suite))
    return TypeAdapter(_Alarms).validate_json(stored.body) if stored else ()


def write_alarms(bucket: Bucket, suite: str, alarms: Iterable[LevelAlarm]) -> None:
    """Write every alarm of a suite."""
    bucket.write(keys.alarms(suite), TypeAdapter(_Alarms).dump_json(tuple(alarms)))


def alarms_of(bucket: Bucket, suite: str, run_id: str) -> _Alarms:
    """Return the alarms that the message of a run reports."""
    return tuple(alarm for alarm in read_alarms(bucket, suite) if alarm.told_by == run_id)
