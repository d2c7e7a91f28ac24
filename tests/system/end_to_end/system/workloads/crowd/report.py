"""Report of a load: it logs the supported users that each search found."""

import json
import os
import site

site.main()  # boto3 is a site package
import boto3  # noqa: E402

bucket, key = os.environ["TIDEMARK_LEVELS"].removeprefix("s3://").split("/", 1)
for found in json.load(boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"])["found"]:
    print(f"Supported users {found}", flush=True)
