"""``tidemark suite new``: the files of a suite that runs, to start from."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import click

from tidemark.model.base import NAME
from tidemark.model.context import systems_to_write
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown
from tidemark.model.task import HARNESS

_EXAMPLE = Path(__file__).with_name("example")
_PROGRAM = "workload.txt"


@click.command("new")
@click.argument("name")
def command(name: str) -> None:
    """Write a suite that runs, with its queries and its workload.

    The files are an example to change: a sorted list of a PyPI package. They are written below the
    folder of systems, which is this repository or the folder in TIDEMARK_SYSTEMS. A Tidemark that
    pip installed writes them below the folder of work.

    \b
    Example:
      tidemark suite new sorted
    """
    if not re.fullmatch(NAME, name):
        expected = "a small letter, and up to 31 small letters, digits and _ after it"
        raise Refused(f"NAME: {shown(name)} is not accepted; expected {expected}")
    if name == HARNESS.name:
        raise Refused(f"NAME: {shown(name)} is the name of Tidemark's harness; choose another")
    suite, workload = (systems_to_write() / part / name for part in ("suites", "workloads"))
    for folder in (suite, workload):
        if folder.exists():
            raise Refused(f"NAME: {shown(name)} is taken; there is {folder}")
    _write(workload, {f"{name}_workload.py": _text(_PROGRAM, name)})
    names = sorted(path.name for path in _EXAMPLE.iterdir() if path.name != _PROGRAM)
    _write(suite, {each: _text(each, name) for each in names})
    for folder in (suite, workload):
        for path in sorted(folder.iterdir()):
            click.echo(path)


def _text(file: str, name: str) -> str:
    return (_EXAMPLE / file).read_text(encoding="utf-8").replace("NAME", name)


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write a folder with these files in one step."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as made:
        whole = Path(made, folder.name)
        whole.mkdir()
        for name, text in texts.items():
            (whole / name).write_text(text, encoding="utf-8")
        whole.rename(folder)
