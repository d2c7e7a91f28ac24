"""Links to objects of the results bucket, for programs and for people."""

from typing import NamedTuple
from urllib.parse import quote

from tidemark.model.base import Frozen


class Link(Frozen):
    """A link to one object."""

    place: str
    """The link for programs: ``s3://<bucket>/<key>``."""
    address: str | None
    """The object in the S3 console, for a signed-in browser; None without a console."""


class ObjectLinks(NamedTuple):
    """Links to the objects of one bucket."""

    bucket: str
    region: str
    in_console: bool
    """Whether the S3 console shows the bucket."""

    def to(self, key: str) -> Link:
        """Return the link to an object."""
        console = f"https://{self.region}.console.aws.amazon.com/s3/object/{self.bucket}"
        address = f"{console}?region={self.region}&prefix={quote(key, safe='')}"
        return Link(place=f"s3://{self.bucket}/{key}", address=address if self.in_console else None)
