"""Process for the campaign to kill: ``python -m tests.system.faults.victim STATE DEADLINE CALL``.

The process starts a run, waits until the run makes the call, prints the run and waits.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from tests.system.faults.ground import Ground


def main() -> None:
    """Start the run and wait to be killed."""
    state, deadline, text = sys.argv[1:]
    call = json.loads(text)
    ground = Ground(Path(state), int(deadline))
    with ground.wire.held(call["calls"], call["after"]) as arrived:
        run = ground.client.start(call["fields"])
        arrived.wait()
        print(json.dumps([run.run_id, run.execution_arn]), flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
