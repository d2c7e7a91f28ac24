"""S3's lifecycle rules on one machine: each start of a cloud deletes expired objects.

S3 checks once a day; here each cloud creates its buckets from a template and checks them then.
An unfinished upload ends with its cloud.

Sources: AWS documentation, AWS::S3::Bucket Rule; Amazon S3 user guide, "Lifecycle configuration
elements" (expiration is rounded up to midnight UTC).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from moto.core.utils import utcnow
from moto.s3.models import FakeBucket

from onebox.cloud.replacements import Replacements
from onebox.cloud.resource import refuse_unknown

_RULE = {"AbortIncompleteMultipartUpload", "ExpirationInDays", "Id", "Prefix", "Status"}
# One machine keeps no old versions of objects.
_OF_VERSIONS = {"ExpiredObjectDeleteMarker", "NoncurrentVersionExpiration"}

Rules = Iterable[Mapping[str, Any]]


def expire(bucket: FakeBucket, rules: Rules, now: datetime) -> None:
    """Delete the objects of a bucket that have expired by the rules of a template.

    ``now`` is in UTC, without a zone. Raise ValidationError for an unsupported property.
    """
    for rule in rules:
        refuse_unknown("an AWS::S3::Bucket rule", rule, _RULE | _OF_VERSIONS)
        if rule["Status"] == "Enabled" and "ExpirationInDays" in rule:
            days = timedelta(days=int(rule["ExpirationInDays"]))
            for key in list(bucket.keys.values()):
                due = key.last_modified + days
                if key.name.startswith(rule.get("Prefix", "")) and due.date() < now.date():
                    bucket.keys.pop(key.name)


def replace_methods(replacements: Replacements) -> None:
    """Make moto's buckets honour the lifecycle rules of their templates."""

    def create(_: type, /, name: str, template: Any, *place: str, **more: Any) -> FakeBucket:  # noqa: ANN401
        bucket: FakeBucket = original(name, template, *place, **more)
        lifecycle = template["Properties"].get("LifecycleConfiguration", {})
        expire(bucket, lifecycle.get("Rules", ()), utcnow())
        return bucket

    original = replacements.set(FakeBucket, "create_from_cloudformation_json", classmethod(create))
