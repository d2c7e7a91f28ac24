"""The ids of runs, the names of the executions of trials, and the numbers of trials."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# The history of a run's execution holds 25,000 events. A trial takes 19 of them, which leaves room
# for about two retries in every trial. Trial numbers have three digits.
MOST_TRIALS = 900
FIRST_PROFILED = MOST_TRIALS + 1
"""The number of the first profiled trial: a run until decided may grow to ``MOST_TRIALS``."""
MOST_PROFILED = 99


def is_profiled(number: int) -> bool:
    """Tell whether a trial of this number is profiled, and so counts in no rate."""
    return number >= FIRST_PROFILED


def place_of(number: int) -> int:
    """Return the place of a trial among the profiled trials or the others, counted from 1."""
    return number - FIRST_PROFILED + 1 if is_profiled(number) else number


RUN_ID = r"20\d{6}T\d{6}Z-[0-9a-f]{6}"
"""The form of a run's name."""


def run_id(mark: object, started_at: datetime) -> str:
    """Return a run's name: its start in UTC and six hexadecimal digits of the hash of ``mark``.

    The mark is a JSON value that a retried state has again, so that a retry names the same run: the
    name of the execution, or the input of a start that a schedule may deliver twice.
    """
    import json  # noqa: PLC0415 (most commands only know the form of names)

    return f"{started_at:%Y%m%dT%H%M%SZ}-{_mark(json.dumps(mark, sort_keys=True))}"


def is_run_id(text: str) -> bool:
    """Tell whether a text has the form of a run's name."""
    return re.fullmatch(RUN_ID, text) is not None


def moment(run_id: str) -> datetime:
    """Return the start of a run, from its name."""
    return datetime.strptime(run_id[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def trial_execution(run_id: str, trial: int, execution_arn: str) -> str:
    """Return the name of a trial's execution, which the execution of this ARN starts.

    A resumed run has several executions, and Step Functions needs a unique name for each trial's.
    """
    return f"{run_id}-{trial}-{_mark(execution_arn)}"


def is_trial_execution(name: str, run_id: str, execution_arn: str) -> bool:
    """Tell whether the execution of this ARN started a trial of a run under this name."""
    return name.startswith(f"{run_id}-") and name.endswith(f"-{_mark(execution_arn)}")


def task_group(run_id: str, trial: int) -> str:
    """Return the group of a trial's ECS tasks; all trials of a round have the first trial's."""
    return f"{run_id}-{trial}"


def run_of_group(group: str) -> str | None:
    """Return the run whose tasks have a group; None for a group of other tasks."""
    found = re.fullmatch(rf"({RUN_ID})-\d+", group)
    return found[1] if found else None


def _mark(text: str) -> str:
    """Return six hexadecimal digits of the hash of a text."""
    import hashlib  # noqa: PLC0415 (it loads OpenSSL)

    return hashlib.sha256(text.encode()).hexdigest()[:6]
