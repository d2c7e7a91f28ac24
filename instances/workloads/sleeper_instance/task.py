"""Program of the suite's own task, which no step runs: the tests run tasks of the instance."""

import sys

print("[main] sleeper.Instance ERROR  - the suite has no task of its own", flush=True)
sys.exit(1)
