"""Requests over HTTP to the server, and to ltapi beside this program."""

from __future__ import annotations

import http.client
import json
from typing import Any

from harness.task import CheckFailedError

_PATIENCE_SECONDS = 60


def ask(host: str, port: int, path: str, body: object = None) -> bytes:
    """Return the answer to GET, or to POST of a body as JSON.

    Raises
    ------
    CheckFailedError
        If there is no answer, or one that refuses the request.
    """
    sent = None if body is None else json.dumps(body)
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("GET" if body is None else "POST", path, sent, _headers(sent))
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException) as fault:
        said = fault or type(fault).__name__
        raise CheckFailedError(f"{host}:{port} did not answer {path}: {said}.") from None
    finally:
        connection.close()
    if answer.status >= http.HTTPStatus.BAD_REQUEST:
        said = text.decode(errors="replace").strip()
        raise CheckFailedError(f"{host}:{port} refused {path} with {answer.status}: {said}.")
    return text


def _headers(body: str | None) -> dict[str, Any]:
    return {} if body is None else {"Content-Type": "application/json"}
