"""The cloud's replacements of moto's methods, and its refusals of the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn
from xml.sax.saxutils import escape

from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment


def not_honoured(owner: str, name: str, value: object, accepted: str) -> str:
    """Return the sentence that refuses ``name`` of ``owner``, with its value and what is accepted.

    Example: ``Rule nightly has State "ON", which one machine does not honour; accepted: ENABLED.``
    """
    return (
        f"{owner} has {name} {json.dumps(value, default=str)}, which one machine does not honour; "
        f"accepted: {accepted}."
    )


def refuse_unknown(
    owner: str,
    fields: Mapping[str, Any],
    accepted: Collection[str],
    error: Callable[[str], Exception],
) -> None:
    """Raise an error with the name and the value of a field that is not accepted."""
    for name in sorted(fields.keys() - accepted):
        raise error(not_honoured(owner, name, fields[name], ", ".join(sorted(accepted))))


_FOR_S3 = re.compile("AWS4-HMAC-SHA256 Credential=[^,]+/s3/aws4_request,")


class Forbidden(Exception):
    """A request that is not allowed, with AWS's code of the error and a message for its sender."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def signed_for_s3(environ: WSGIEnvironment) -> bool:
    """Tell whether the signature of a request is for S3."""
    return _FOR_S3.match(environ.get("HTTP_AUTHORIZATION", "")) is not None


def lacking(environ: WSGIEnvironment, error: NotImplementedError) -> Response:
    """Return the answer to an operation that one machine lacks: 501, with its name."""
    target = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    named = re.search(r"The (\w+) action", str(error))
    action = target or (named[1].title().replace("_", "") if named else "This operation")
    message = f"{action} is not supported on one machine."
    return refused(environ, Forbidden("NotImplemented", message), 501)


def refused(environ: WSGIEnvironment, refusal: Forbidden, status: int = 403) -> Response:
    """Return the answer to a refused request, in the form that its service's clients read."""
    headers = {"x-amzn-ErrorType": refusal.code}
    code, message = escape(refusal.code), escape(str(refusal))
    error = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    if signed_for_s3(environ):
        return Response(error, status, headers, content_type="application/xml")
    if "form-urlencoded" in environ.get("CONTENT_TYPE", ""):
        body = f"<ErrorResponse>{error}</ErrorResponse>"
        return Response(body, status, headers, content_type="text/xml")
    body = json.dumps({"__type": refusal.code, "message": str(refusal)})
    return Response(body, status, headers, content_type="application/json")


_INHERITED = object()


class Replacements:
    """The originals of replaced attributes, to be restored."""

    def __init__(self) -> None:
        self._originals: list[tuple[type | ModuleType, str, Any]] = []

    def set(self, owner: type | ModuleType, name: str, replacement: Any) -> Any:  # noqa: ANN401 (any attribute)
        """Replace an attribute; return the original, as ``getattr`` returns it."""
        self._originals.append((owner, name, owner.__dict__.get(name, _INHERITED)))
        original = getattr(owner, name, None)
        setattr(owner, name, replacement)
        return original

    def refuse(self, owner: type, methods: Iterable[str]) -> None:
        """Make one machine lack actions of a service, by moto's names (``start_task``)."""
        for method in methods:
            self.set(owner, method, partial(_lack, method))

    def restore(self) -> None:
        """Put every original back, the last replaced first."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _lack(method: str, *_: object, **__: object) -> NoReturn:
    raise NotImplementedError(f"The {method} action has not been implemented")  # as moto says it
