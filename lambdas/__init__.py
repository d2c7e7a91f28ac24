"""The Lambda handlers: one for each Task state, and the handlers that are called from outside."""

import gc
from collections.abc import Callable
from typing import Any, TypeVar

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic_core import to_jsonable_python

from tidemark.model.telemetry import LOGGER

# Python 3.13 looks for garbage after every 2,000 new objects, 3.11 after every 700. Imported
# modules and the trials of a run stay in use, so these searches find nothing; on 3.11 they cost a
# cold start some 8 % of its time.
gc.set_threshold(100_000)

logger = Logger(service=LOGGER)
_Event = TypeVar("_Event")


def answers(model: type[_Event]) -> Callable[[Callable[[_Event], object]], Callable[..., Any]]:
    """Return a decorator for a handler's call into the core.

    The handler parses its event into a model, logs with the context of its invocation, and returns
    the answer as JSON.
    """

    def decorate(answer: Callable[[_Event], object]) -> Callable[..., Any]:
        @logger.inject_lambda_context(clear_state=True)
        @event_parser(model=model)
        def handler(event: _Event, _: LambdaContext) -> Any:  # noqa: ANN401 (JSON)
            return to_jsonable_python(answer(event))

        return handler

    return decorate
