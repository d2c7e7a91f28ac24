"""``tidemark artefacts``: the files that the tasks of a run left."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tidemark.cli.options import run_argument
from tidemark.cli.saving import format_option, save, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.model.labels import canonical
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import all_trials

if TYPE_CHECKING:
    from tidemark.model.plan import Plan
    from tidemark.model.results import TrialResult
    from tidemark.model.task import KeptFile

_COLUMNS = ("trial", "version", "axes", "test", "task", "file", "bytes", "sha256")


class _File(NamedTuple):
    trial: int
    version: str
    axes: str
    """The values of axes as the table ``rates`` has labels: canonical JSON, '' without axes."""
    test: str
    kept: KeptFile

    def key(self, run: str) -> str:
        return keys.artefact(run, self.trial, self.test, self.kept.task, self.kept.name)

    def row(self) -> dict[str, str | None]:
        kept = self.kept
        of_task = (str(self.trial), self.version, self.axes, self.test, str(kept.task))
        return dict(zip(_COLUMNS, (*of_task, kept.name, str(kept.size), kept.sha256), strict=True))


@click.command(name="artefacts")
@run_argument
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="New or empty folder to save the files in, as TRIAL/TEST/TASK/FILE.",
)
@format_option
@target_options
def command(run: str, folder: Path | None, form: str, target: Target) -> None:
    """List the files that the tasks of RUN left, or save them.

    A suite declares these files as artefacts of its tests. Each saved file is compared with the
    size and the digest that were recorded.

    \b
    Example:
      tidemark artefacts 20261120T124455Z-0a1b2c --to profiles
    """
    if folder and folder.exists() and any(folder.iterdir()):
        raise Refused(f"--to: {folder} is not empty; expected a new or an empty folder")
    with stored(target) as store:
        plan = target.plan(store.bucket, run)
        trials = list(all_trials(store.bucket, run))
        files = list(_files(trials))
        for file in files if folder else ():
            save(Path(folder or ".", *_parts(file)), _body(store.bucket, run, file))
    for note in _notes(trials):
        click.echo(note, err=True)
    if not files:
        click.echo(f"The run keeps no files: {_reason(plan, trials)}.", err=True)
    elif folder:
        click.echo(f"Saved {plural(len(files), 'file')} in {folder}")
    else:
        columns = [name for name in _COLUMNS if name != "axes" or any(file.axes for file in files)]
        show(columns, [file.row() for file in files], form)


def _reason(plan: Plan, trials: Sequence[TrialResult]) -> str:
    """Return why a run keeps no files."""
    if not any(test.artefacts for test in plan.suite.tests):
        return f"no test of {plan.suite.name} declares artefacts"
    return "its tasks left none that the suite declares" if trials else "no trial has ended"


def _notes(trials: Sequence[TrialResult]) -> Iterator[str]:
    """Yield a sentence for each file that is not kept, and for each that a task did not leave."""
    for trial in trials:
        for test in trial.tests:
            for note in test.artefact_notes:
                yield f"trial {trial.trial}, {test.test}: {note}"


def _files(trials: Sequence[TrialResult]) -> Iterator[_File]:
    for trial in trials:
        for test in trial.tests:
            for kept in test.artefacts:
                yield _File(trial.trial, trial.version, canonical(trial.axes), test.test, kept)


def _parts(file: _File) -> tuple[str, ...]:
    return f"{file.trial:03d}", file.test, str(file.kept.task), file.kept.name


def _body(bucket: Bucket, run: str, file: _File) -> bytes:
    """Return the body of a file as it was kept; fail if it is another one now."""
    key = file.key(run)
    body = bucket.read(key)
    if hashlib.sha256(body).hexdigest() != file.kept.sha256:
        raise click.ClickException(f"{key} is not the file that was kept: its digest differs")
    return body
