"""The instance of Sleeper that a test works with: it is there while this program runs.

However the program ends but by SIGKILL, it removes all that the instance was made of, also after a
deployment that failed.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from configured import configure
from harness import log
from harness.checks import CheckFailedError
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
        remove(relay.made)
        log.info("Instance", f"Removed {len(relay.made)} buckets, queues and tables")
    return 1


def _stop(number: int, _frame: object) -> None:
    # The signal comes twice, from the cloud and from the harness.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
