"""The files that tasks left, as the run keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tidemark.report.blocks import Block, Bullets, Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.store import keys

_MOST_ROWS = 200


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of the files that a run keeps, if its suite declares any."""
    if run.plan.profiled or any(test.artefacts for test in run.plan.suite.tests):
        yield Section("Artefacts", tuple(_blocks(run)), details=True)


def _blocks(run: MeasuredRun) -> Iterator[Block]:
    count = sum(len(result.artefacts) for trial in run.all_trials for result in trial.tests)
    shown = f"; the table has the first {_MOST_ROWS}" if count > _MOST_ROWS else ""
    command = f"tidemark artefacts {run.plan.run_id} --to FOLDER"
    yield f"Files that are kept: {count:,}{shown}. The command {command} saves them."
    if count:
        columns = ("Trial", "Version", "Test", "Task", "File", "Bytes", "SHA-256", "Key")
        rows = tuple(islice(_rows(run), _MOST_ROWS))
        yield Table("Files that tasks left", columns, rows, frozenset({"Bytes"}))
    if notes := tuple(islice(_notes(run), _MOST_ROWS)):
        yield Bullets(notes)


def _rows(run: MeasuredRun) -> Iterator[Row]:
    for trial in run.all_trials:
        for result in trial.tests:
            for file in result.artefacts:
                where = str(trial.trial), trial.version, result.test, str(file.task)
                key = keys.artefact(trial.run_id, trial.trial, result.test, file.task, file.name)
                yield Row((*where, file.name, f"{file.size:,}", file.sha256, key))


def _notes(run: MeasuredRun) -> Iterator[str]:
    for trial in run.all_trials:
        for result in trial.tests:
            for note in result.artefact_notes:
                yield f"trial {trial.trial} ({trial.name}), {result.test}: {note}"
