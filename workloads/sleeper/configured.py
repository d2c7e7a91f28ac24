"""The configuration of the trial's instance, in the bucket that Sleeper keeps it in."""

from __future__ import annotations

import os
from typing import Any

import boto3
from harness.task import CheckFailedError
from upstream import has_rust


def configure(buckets: list[str]) -> None:
    """Choose the engine and the files of a compaction job, and note the bucket's name.

    ``buckets`` are those of the instance. A job has a file of each writer.

    Raises
    ------
    CheckFailedError
        If the jars do not have the engine.
    """
    engine = os.environ["TIDEMARK_ENGINE"]
    if engine == "datafusion" and not has_rust():
        raise CheckFailedError(
            "The jars lack the part in Rust, which the engine DataFusion needs: "
            "build them with Rust installed and -DskipRust=false."
        )
    chosen = {
        "data.engine": engine.upper(),
        "compaction.files.batch.size": os.environ["TIDEMARK_TASKS"],
    }
    lines = "".join(f"\nsleeper.table.{name}={value}" for name, value in chosen.items())
    s3: Any = boto3.client("s3")
    (config,) = (
        name for name in buckets if name.startswith(f"{os.environ['TIDEMARK_OWN']}-config")
    )
    for table in s3.list_objects_v2(Bucket=config, Prefix="tables/")["Contents"]:
        place = {"Bucket": config, "Key": table["Key"]}
        properties = s3.get_object(**place)["Body"].read()
        s3.put_object(**place, Body=properties + lines.encode() + b"\n")
    s3.put_object(**_note(), Body=config.encode())


def config_bucket() -> str:
    """Return the name of the bucket, which older versions do not end with the account."""
    s3: Any = boto3.client("s3")
    return str(s3.get_object(**_note())["Body"].read().decode())


def _note() -> dict[str, str]:
    """Return the place of the name in the trial's data."""
    bucket, _, place = os.environ["TIDEMARK_DATA"].removeprefix("s3://").partition("/")
    return {"Bucket": bucket, "Key": f"{place}/config-bucket"}
