"""A process to be killed: ``python -m tests.faults.victim STATE DEADLINE TOLD``.

It starts a run, waits until the run is at the call it was told of, prints the run, and waits.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from tests.faults.ground import Ground


def main() -> None:
    """Start the run and wait to be killed."""
    state, deadline, text = sys.argv[1:]
    told = json.loads(text)
    ground = Ground(Path(state), int(deadline))
    with ground.wire.held(told["calls"], told["after"]) as arrived:
        run = ground.client.start(told["asked"])
        arrived.wait()
        print(json.dumps([run.run_id, run.execution_arn]), flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
