"""The users of each task of a load."""

from __future__ import annotations

from collections.abc import Mapping

from harness.task import CheckFailedError


def numbers_of(variables: Mapping[str, str]) -> range:
    """Return the numbers of a task's users, which no other task of the load has.

    Raises
    ------
    CheckFailedError
        If there are fewer users than tasks.
    """
    users, tasks = int(variables["TIDEMARK_USERS"]), int(variables["TIDEMARK_TASKS"])
    if users < tasks:
        raise CheckFailedError(f"{users} users are fewer than the {tasks} tasks that share them.")
    return range(int(variables["TIDEMARK_TASK"]), users, tasks)
