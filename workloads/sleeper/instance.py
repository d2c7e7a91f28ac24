"""The instance of Sleeper that a test works with: it is there while this program runs.

However the program ends but by SIGKILL, it removes all that the instance was made of, also after a
deployment that failed.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError
from configured import configure
from harness import log
from harness.task import CheckFailedError
from relay import Relay
from removal import remove
from upstream import DEPLOY, instance_id, run

_PORT = 8080  # the suite waits for it


def main() -> int:
    """Deploy the instance, and keep it until this program is stopped; return the exit code."""
    signal.signal(signal.SIGTERM, _stop)
    relay = Relay()
    try:
        with relay:
            run(relay, DEPLOY, instance_id())
        configure([name for kind, name in relay.made if kind == "Bucket"])
        with socket.create_server((os.environ["TIDEMARK_ADDRESS"], _PORT)):
            signal.pause()
    except CheckFailedError as failure:
        log.error("Instance", str(failure))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _remove(relay.made)
    return 1


def _remove(made: Sequence[tuple[str, str]]) -> None:
    try:
        remove(made)
    except (BotoCoreError, ClientError) as error:
        log.error("Instance", f"Not all of it could be removed: {error}")
    else:
        log.info("Instance", f"Removed {len(made)} buckets, queues and tables")


def _stop(number: int, _frame: object) -> None:
    # The signal comes twice, from the cloud and from the harness.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
