"""AWS calls of roles, parsed from HTTP requests by moto's parsers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model

from onebox.cloud.endpoint import access_key_id
from tests.system.policies.violations import violations

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

_SCOPE = re.compile(r"Credential=(?P<caller>[^/]+)/\d+/[^/]+/(?P<service>[^/]+)/")
# botocore's names of services that sign with another name.
_SERVICES = {"servicequotas": "service-quotas", "states": "stepfunctions"}
# Content of requests, which may be long and which IAM does not evaluate.
_CONTENT = {
    "Body", "Message", "MessageBody", "Payload", "input", "overrides", "queryString",
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """
    API call of a role.

    Attributes
    ----------
    role
        Name of the role.
    operation
        Service of the signature and operation: ``s3:ListObjectsV2``.
    parameters
        Parameters of the SDK, without the content.
    violations
        Violations of the API's model, also by the content.
    """

    role: str
    operation: str
    parameters: Mapping[str, Any]
    violations: list[str]

    def to_json(self) -> str:
        """Return the call as a line of JSON."""
        return json.dumps(asdict(self), default=str, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Call:
        """Return the call from a line of ``to_json``."""
        return cls(**json.loads(line))


def read_call(environ: WSGIEnvironment, *, of_owner: bool = False) -> Call | None:
    """Return the call of a request by a role, or else ``of_owner``; None for any other caller.

    The request stays readable.
    """
    scope = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
    if scope is None or (scope["caller"] == access_key_id("")) is not of_owner:
        return None
    # The cloud itself sends metrics, as its owner.
    if scope["service"] == "monitoring":
        return None
    body = _body(environ)
    request = Request({**environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))})
    service = _SERVICES.get(scope["service"], scope["service"])
    operation, labels = get_service_router(service).match(request)
    protocol = determine_request_protocol(get_service_model(service), request.content_type)
    parameters = PROTOCOL_PARSERS[protocol](operation).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": request.data,
            "url_path": request.path,
            "url_params": labels,
        }
    )
    # The parser of JSON leaves out names that the model does not have.
    sent = json.loads(request.data) if protocol == "json" else parameters
    return Call(
        scope["caller"],
        f"{scope['service']}:{operation.name}",
        {name: value for name, value in parameters.items() if name not in _CONTENT},
        violations(sent, operation.input_shape),
    )


def _body(environ: WSGIEnvironment) -> bytes:
    """Return the body of a POST request and put it back; do not read the object of a PUT."""
    if environ["REQUEST_METHOD"] != "POST":
        return b""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = BytesIO(body)
    return body
