"""The conditions that a state folder meets after a power failure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from onebox.logs.store import LogStore
from onebox.store.object_files import ObjectFiles
from tidemark.cli import tidemark
from tidemark.model.run_id import RUN_ID

_RESULTS = "tidemark-resultsbucket"


@dataclass(frozen=True)
class Contents:
    """The stored results and log lines of a state folder.

    Attributes
    ----------
    objects
        The MD5 of each object of the results bucket.
    lines
        The ids of the log lines.
    """

    objects: dict[str, str]
    lines: list[str]

    @classmethod
    def of(cls, state: Path) -> Contents:
        """Return the contents of a state folder."""
        with closing(ObjectFiles(state / "objects")) as files:
            objects = {
                key: body.md5
                for bucket in files.buckets()
                if bucket.startswith(_RESULTS)
                for key, body, _ in files.objects(bucket)
            }
        logs = LogStore(state / "logs")
        return cls(objects, [event.id for group in logs.groups() for event in logs.read(group)])

    def lasting(self) -> Contents:
        """Return the contents that no later run may change."""
        objects = {
            key: md5
            for key, md5 in self.objects.items()
            if re.match(r"(runs|tables/(runs|rates|task_rates))/", key) and re.search(RUN_ID, key)
        }
        return Contents(objects, self.lines)


NOTHING = Contents({}, [])


def problems(
    state: Path, before: Contents, after: Contents, trials: Collection[int]
) -> Iterator[str]:
    """Yield what is wrong with a state folder after a power failure during a command.

    ``before`` and ``after`` are the contents around the command, ``trials`` the trials that it had
    reported by then.
    """
    if not (state / "objects").exists():
        return
    for words in (["doctor"], ["runs", "--format", "json"], ["doctor"]):
        done = CliRunner().invoke(tidemark, [*words, "--state", str(state)])
        if done.exit_code:
            yield f"`tidemark {words[0]}` ended with {done.exit_code}: {done.output}"
            return
        if words[0] == "runs":
            yield from _doubled("run", [row["run_id"] for row in json.loads(done.stdout or "[]")])
    found = Contents.of(state)
    yield from _lost(found, before, after)
    yield from _doubled("line", found.lines)
    for trial in trials:
        if not any(key.endswith(f"/trials/{trial:03d}.json") for key in found.objects):
            yield f"trial {trial} was reported and is lost"
    with closing(ObjectFiles(state / "objects")) as files:
        files.save(_RESULTS, "new", files.write([b"new"]), {})


def _lost(found: Contents, before: Contents, after: Contents) -> Iterator[str]:
    for key, md5 in before.objects.items():
        if after.objects.get(key) == md5 != found.objects.get(key):
            yield f"{key} is lost or another one"
        if key in after.objects and key not in found.objects:
            yield f"{key} is lost"
    if missing := {*before.lines} - {*found.lines}:
        yield f"{len(missing)} log lines are lost"


def _doubled(what: str, names: list[str]) -> Iterator[str]:
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{what} {name} is there {count} times"
