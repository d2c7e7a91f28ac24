"""FindTasks: the tasks that an instance itself started during a test."""

from lambdas import answers, services
from tidemark.run.find_tasks import FindTasksEvent, find_tasks


@answers(FindTasksEvent)
def handler(event: FindTasksEvent) -> object:
    """Return the tasks, or the reason why the test fails."""
    return find_tasks(services.bucket(), services.tasks(), event)
