"""An S3 client that keeps its objects in a dictionary."""

import io

from botocore.exceptions import ClientError


class Bucket:
    """An S3 client that keeps its objects in a dictionary; ``code`` is the error of other keys."""

    def __init__(self, code="NoSuchKey"):
        self.code = code
        self.objects = {}
        self.order = []

    def put_object(self, **request):
        key, body = request["Key"], request["Body"]
        self.objects[key] = body if isinstance(body, bytes) else body.read()
        self.order.append(key)

    def get_object(self, **request):
        if request["Key"] not in self.objects:
            raise ClientError({"Error": {"Code": self.code}}, "GetObject")
        return {"Body": Stream(self.objects[request["Key"]])}


class Stream(io.BytesIO):
    def iter_chunks(self, size):
        return iter(lambda: self.read(size), b"")
