"""S3's lifecycle rules on one machine: what has expired is deleted whenever a cloud starts.

S3 looks once a day; here a bucket is made from its template, and looked through, by each cloud.
An upload that was not finished is gone with its cloud.

Sources: AWS documentation, AWS::S3::Bucket Rule; Amazon S3 user guide, "Lifecycle configuration
elements" (expiration is rounded up to midnight UTC).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from moto.core.utils import utcnow
from moto.s3.models import FakeBucket

from local.cloud.replacements import Replacements
from local.cloud.resource import refuse_unknown

_RULE = {"AbortIncompleteMultipartUpload", "ExpirationInDays", "Id", "Prefix", "Status"}

Rules = Iterable[Mapping[str, Any]]


def expire(bucket: FakeBucket, rules: Rules, now: datetime) -> None:
    """Delete the objects of a bucket that have expired by the rules of a template.

    ``now`` is in UTC, without a zone. ValidationError for what a rule has that is not honoured.
    """
    for rule in rules:
        refuse_unknown("an AWS::S3::Bucket rule", rule, _RULE)
        if rule["Status"] == "Enabled" and "ExpirationInDays" in rule:
            days = timedelta(days=int(rule["ExpirationInDays"]))
            for key in list(bucket.keys.values()):
                due = key.last_modified + days
                if key.name.startswith(rule.get("Prefix", "")) and due.date() < now.date():
                    bucket.keys.pop(key.name)


def replace_methods(replacements: Replacements) -> None:
    """Let moto's buckets honour the lifecycle rules of their templates."""

    def create(_: type, /, name: str, template: Any, *place: str, **more: Any) -> FakeBucket:  # noqa: ANN401
        bucket: FakeBucket = created(name, template, *place, **more)
        lifecycle = template["Properties"].get("LifecycleConfiguration", {})
        expire(bucket, lifecycle.get("Rules", ()), utcnow())
        return bucket

    created = replacements.set(FakeBucket, "create_from_cloudformation_json", classmethod(create))
