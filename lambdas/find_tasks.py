"""FindTasks: the tasks that an instance itself started during a test."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.find_tasks import FindTasksEvent, find_tasks


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=FindTasksEvent)
def handler(event: FindTasksEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the tasks, or the reason why the test fails."""
    return find_tasks(services.bucket(), services.tasks(), event).model_dump(mode="json")
