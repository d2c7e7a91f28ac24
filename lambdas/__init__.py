"""The Lambda handlers: one for each Task state, and the handlers that are called from outside."""

import gc

from aws_lambda_powertools import Logger

from tidemark.model.telemetry import LOGGER

# Python 3.13 looks for garbage after every 2,000 new objects, 3.11 after every 700. Imported
# modules and the trials of a run stay in use, so these searches find nothing; on 3.11 they cost a
# cold start some 8 % of its time.
gc.set_threshold(100_000)

logger = Logger(service=LOGGER)
