"""The templates of ``tidemark publish`` with their output: ``python -m tests.checks.documents``."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from click.testing import CliRunner

from tests.unit.drawn_runs import ENGINE, engines
from tests.unit.fakes import FakeBucket
from tests.unit.load_results import NEW, PUBLISHED, load_run
from tidemark.cli import tidemark
from tidemark.cli.comment import HEADING, written
from tidemark.model.checkout import ROOT
from tidemark.model.comment import Comment
from tidemark.model.suite_files import read_suites
from tidemark.store import keys
from tidemark.store.run_objects import add_comment

FOLDER = ROOT / "docs" / "published"
LOAD, SERVER = "20261121T124455Z-abcdef", "20261125T124455Z-abcdef"
NAMES: Mapping[str, str] = {
    "comparison": f"new={ENGINE}/9.8.4 against {ENGINE}/8.8.1",
    "load": f"new={SERVER}/{PUBLISHED[1]} against {SERVER}/{PUBLISHED[0]}",
    "baseline": f"run={LOAD}",
    "history": "suite=sleeper",
    "profiles": "suite=rocksdb",
}
"""The runs and versions that the document of each template names."""
_PROFILES = ROOT / "docs" / "profiles" / "builds"
# The other graphs are drawn in the same way, and would be many files or a large one.
_LEFT_OUT = re.compile(
    r"\n### Graphs - (?:Bounded Postgres|Unbounded).*|\n# Flamegraphs\n.*", re.DOTALL
)
_COMMENT = """- The new version supports
  {{change supported_users {database: DATABASE} of VERSION = 16.86%}} more users with DATABASE.

# Action items

- Discuss the increase in number of supported users.
"""


def store(folder: Path) -> Path:
    """Store two runs, a comment, published figures and profiles; return the state folder."""
    bucket = FakeBucket()
    load = load_run(5, databases=("mariadb",), name=LOAD)  # type: ignore[no-untyped-call]
    served = load_run(  # type: ignore[no-untyped-call]
        5,
        databases=("mysql", "postgres"),
        name=SERVER,
        suite=read_suites(ROOT / "images")["mattermost"],
        versions=PUBLISHED,
    )
    for run in (load, served, engines()):
        bucket.write(keys.plan(run.plan.run_id), run.plan.model_dump_json().encode())
        for trial in run.trials:
            bucket.write(keys.trial(trial.run_id, trial.trial), trial.model_dump_json().encode())
    for run_id, database, version in ((LOAD, "mariadb", NEW), (SERVER, "mysql", PUBLISHED[1])):
        text = _COMMENT.replace("DATABASE", database).replace("VERSION", version)
        own = written(text, folder, HEADING)
        said = Comment(
            title="More users",
            author="Ada Example",
            day=date(2026, 11, 28),
            text=own.text,
            html=own.html,
        )
        add_comment(bucket, run_id, said)
    for key in bucket.keys(""):
        file = folder / "exported" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bucket.read(key))
    state = folder / "state"
    invoke(state, "restore", folder / "exported")
    invoke(state, "import", ROOT / "docs" / "import.md", "--suite", "sleeper")
    for file in sorted(_PROFILES.glob("*.folded")):
        test, version = file.stem.split("-", 1)
        of = ("--suite", "rocksdb", "--version", version, "--test", test)
        invoke(state, "profile", "import", file, *of, "--date", "2023-08-17")
    return state


def invoke(state: Path, *words: object) -> str:
    """Run a command over a state folder; return its standard output."""
    done = CliRunner().invoke(tidemark, [*map(str, words), "--state", str(state)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def publish(state: Path, template: str, folder: Path, output: Path, *, whole: bool = False) -> None:
    """Publish the document that a template prints, or as much of it as the documentation has."""
    text = CliRunner().invoke(tidemark, ["publish", "--template", template]).stdout
    document = folder / f"{template}.md"
    document.write_text(text if whole else _LEFT_OUT.sub("", text), encoding="utf-8")
    invoke(state, "publish", document, "--output", output, "--set", NAMES[template])


def write(output: Path) -> None:
    """Write the output of every template."""
    with tempfile.TemporaryDirectory() as name:
        state = store(Path(name))
        shutil.rmtree(output, ignore_errors=True)
        for template in NAMES:
            publish(state, template, Path(name), output)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
