"""FindTasks: the tasks that an instance itself started during a test."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from tidemark.model.base import Frozen
from tidemark.model.instance import KnownInstance, word_of
from tidemark.model.parameters import MOST_TASKS
from tidemark.model.plan import Plan
from tidemark.model.results import TaskResult
from tidemark.model.sentences import listed, plural
from tidemark.model.steps import FindTasks
from tidemark.model.suite import Test
from tidemark.run.classify_stop import failed
from tidemark.run.events import TrialEvent
from tidemark.run.ports import Tasks
from tidemark.store.bucket import Bucket
from tidemark.store.stored_plan import read_plan

_Description = Mapping[str, Any]


class FindTasksEvent(TrialEvent):
    """A step that finds tasks, and the tasks of the test before it."""

    test: str
    search: str
    """The name of the step."""
    tasks: list[TaskResult]
    started_at: datetime
    """The start of the test."""


class FoundTasks(Frozen):
    """The tasks that an instance started, or the reason why the test fails."""

    tasks: tuple[TaskResult, ...] = ()
    stopped_by: str | None = None


def find_tasks(bucket: Bucket, tasks: Tasks, event: FindTasksEvent) -> FoundTasks:
    """Return the tasks of a step's definitions that an instance started since the test began.

    A task whose exit code is not 0 has failed. The test fails if there is none, if
    one has not ended, or if there are more than a test may have.
    """
    plan = read_plan(bucket, event.run_id)
    test, known = plan.suite.test(event.test), plan.known
    step = next(step for step in test.steps if step.name == event.search)
    assert step.find_tasks  # other steps have other states
    assert known
    cluster = tasks.in_cluster(known.names[word_of(step.find_tasks.cluster)])
    words = _words(step.find_tasks, known)
    ours = {task.task_arn for task in event.tasks}
    found = {
        arn: task
        for arn, task in sorted(cluster.created(event.started_at).items())
        if arn not in ours and _family(task["TaskDefinitionArn"]) in words
    }
    if why := _why_not(found, words, len(event.tasks)):
        return FoundTasks(stopped_by=f"step {event.search}: {why}")
    first = _first_index(test, plan, event)
    return FoundTasks(
        tasks=tuple(
            replace(_result(index, task, words, known), step=event.search)
            for index, task in enumerate(found.values(), first)
        )
    )


def _words(search: FindTasks, known: KnownInstance) -> Mapping[str, str]:
    """Return the word of each family that the instance has."""
    words = [word_of(text) for text in search.definitions]
    return {_family(known.names[word]): word for word in words if known.names[word]}


def _family(definition: str) -> str:
    """Return the family in the ARN of a task definition."""
    return definition.rsplit("/", 1)[-1].partition(":")[0]


def _why_not(found: Mapping[str, _Description], words: Mapping[str, str], before: int) -> str:
    """Return why the found tasks are not a whole test's, '' if they are."""
    if not found:
        return f"the instance has started no task of {listed(words)} since the start of the test"
    if running := [arn for arn, task in found.items() if task["LastStatus"] != "STOPPED"]:
        still = "has" if len(running) == 1 else "have"
        ids = listed(arn.rsplit("/", 1)[-1] for arn in running)
        return f"{plural(len(running), 'task')} of the instance {still} not ended: {ids}"
    if len(found) + before > MOST_TASKS:
        return (
            f"the instance has started {len(found)} tasks, beside {before} others of the test; a "
            f"test has at most {MOST_TASKS}"
        )
    return ""


def _first_index(test: Test, plan: Plan, event: FindTasksEvent) -> int:
    """Return the first index after the test's own tasks, its services and the found tasks."""
    found_before = sum(bool(task.step) for task in event.tasks)
    return test.task_count(plan.request.tasks) + len(test.services) + found_before


def _result(
    index: int, task: _Description, words: Mapping[str, str], known: KnownInstance
) -> TaskResult:
    definition = words[_family(task["TaskDefinitionArn"])]
    container = known.logs[definition].container
    result = failed(index, task, f"task {index}", [container])
    if result.exit_code == 0:
        result = replace(result, status="ok", stop_category=None, reason="")
    return replace(result, definition=definition)
