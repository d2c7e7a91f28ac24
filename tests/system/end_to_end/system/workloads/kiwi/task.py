"""Test of a system with a latency and a size: ``python -IS task.py bounded``, then ``check``.

It logs the same times for each operation and adds the task's number. With MariaDB version 12.4
takes half as long again to create, and as long to read; its first task leaves a profile, and a file
that nobody declares.
"""

import os
import site
import sys

if sys.argv[1:] == ["check"]:
    sys.exit(0)
TASK = int(os.environ["TIDEMARK_TASK"])
MEASURED = os.environ["TIDEMARK_VERSION"], os.environ["TIDEMARK_DATABASE"]
SLOWER = 1.5 if MEASURED == ("12.4", "mariadb") else 1.0

for number in range(200):
    print(f"create took {SLOWER * (100 + number) + TASK} ms")
    print(f"read took {10 + number % 7 + TASK / 2} ms")
print(f"The data has {4096 * (TASK + 1)} bytes", flush=True)

if SLOWER > 1 and TASK == 0:
    site.main()  # boto3 is a site package
    import boto3

    bucket, prefix = os.environ["TIDEMARK_ARTEFACTS"].removeprefix("s3://").split("/", 1)
    for name in ("profile-0.folded", "core"):
        boto3.client("s3").put_object(Bucket=bucket, Key=prefix + name, Body=b"main;create 7\n")
