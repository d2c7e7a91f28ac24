"""Test of a system with a latency and a size: ``python -IS task.py bounded``.

It logs the same times for each operation and adds the task's number. With MariaDB version 12.4
takes half as long again to create, and as long to read.
"""

import os

TASK = int(os.environ["TIDEMARK_TASK"])
MEASURED = os.environ["TIDEMARK_VERSION"], os.environ["TIDEMARK_DATABASE"]
SLOWER = 1.5 if MEASURED == ("12.4", "mariadb") else 1.0

for number in range(200):
    print(f"create took {SLOWER * (100 + number) + TASK} ms")
    print(f"read took {10 + number % 7 + TASK / 2} ms")
print(f"The data has {4096 * (TASK + 1)} bytes", flush=True)
