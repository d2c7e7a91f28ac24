"""RestoreSystem: leave the system as the trial found it."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import storage
from lambdas.observability import logger
from tidemark.run.events import TrialEvent
from tidemark.store import keys
from tidemark.store.bucket import delete_what_is_possible


class RestoreEvent(TrialEvent):
    """A trial that pauses rules now, or that has ended."""

    rules: tuple[str, ...] = ()
    """The rules to pause now; none at the end of the trial."""
    paused: bool = False
    """Whether a step of the trial has begun to pause rules."""


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RestoreEvent)
def handler(event: RestoreEvent, _: LambdaContext) -> dict[str, Any]:
    """Pause rules; or else enable them again and delete the data that the tasks stored."""
    if event.rules or event.paused:
        # Most systems have no rules, and these imports would delay each restoration.
        from lambdas import services  # noqa: PLC0415
        from tidemark.run.pausing import pause, resume  # noqa: PLC0415

        if event.rules:
            pause(storage.bucket(), services.rules(), event.run_id, event.rules)
            return {}
        resume(storage.bucket(), services.rules(), event.run_id)
    delete_what_is_possible(storage.bucket(), keys.data(event.run_id, event.trial))
    return {}
