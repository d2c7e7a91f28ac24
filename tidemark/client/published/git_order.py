"""The order of commits in a Git repository, for figures whose versions are commits or tags."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from tidemark.client.published.release_figure import ReleaseFigure
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown

_DESCRIBED = re.compile(r".*-[0-9]+-g([0-9a-f]{7,40})")
_MOST_NAMED = 5


def in_git_order(repository: Path, figures: Sequence[ReleaseFigure]) -> list[ReleaseFigure]:
    """Return figures in the order of their commits, with the days of these.

    A parent comes before its children. The day of a commit is not before that of an earlier one.

    Raises
    ------
    Refused
        If a version is no commit of the repository.

    """
    commits = _commits(repository, dict.fromkeys(figure.version for figure in figures))
    days = _days(repository, commits.values())
    order = {commit: place for place, commit in enumerate(days)}
    return [
        figure._replace(tested_on=days[commits[figure.version]])
        for figure in sorted(figures, key=lambda each: order[commits[each.version]])
    ]


def _commits(repository: Path, versions: Iterable[str]) -> dict[str, str]:
    """Return the commit of each version: an id, a tag with or without v, or ``git describe``."""
    names = list(versions)
    asked = [name for version in names for name in _revisions(version)]
    answers = _git(repository, ["cat-file", "--batch-check=%(objectname)"], "\n".join(asked))
    found = dict(zip(asked, answers, strict=True))
    commits: dict[str, str] = {}
    for version in names:
        ids = [found[name] for name in _revisions(version)]
        if known := next((each for each in ids if re.fullmatch("[0-9a-f]{40,64}", each)), None):
            commits[version] = known
    if missing := [version for version in names if version not in commits]:
        more = len(missing) - _MOST_NAMED
        named = listed(missing[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        there = plural(len(missing), "version")
        raise Refused(f"--repo: {shown(repository.name)} has no commits of {there}: {named}")
    return commits


def _revisions(version: str) -> list[str]:
    match = _DESCRIBED.fullmatch(version)
    names = [match[1]] if match else [version, f"v{version}"]
    return [f"{name}^{{commit}}" for name in names]


def _days(repository: Path, commits: Iterable[str]) -> dict[str, date]:
    """Return the day of each commit, UTC, in the order of the history."""
    wanted, latest = {*commits}, date.min
    arguments = ["log", "--topo-order", "--reverse", "--format=%H %ct", "--stdin"]
    days: dict[str, date] = {}
    for line in _git(repository, arguments, "\n".join(sorted(wanted))):
        commit, _, seconds = line.partition(" ")
        if commit in wanted:
            latest = max(latest, datetime.fromtimestamp(int(seconds), UTC).date())
            days[commit] = latest
    return days


def _git(repository: Path, arguments: Sequence[str], text: str) -> list[str]:
    command = ["git", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(
            command, check=False, input=f"{text}\n", capture_output=True, text=True
        )
    except OSError as error:
        raise Refused(f"--repo: Git cannot be started: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["Git failed"])[-1]
        raise Refused(f"--repo: {shown(str(repository))}: {last}")
    return done.stdout.splitlines()
