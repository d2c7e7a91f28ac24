"""Kiwi TCMS's WSGI application: it times its statements, and has two requests beside its own.

``POST /tidemark/orm?30`` does the work of a sequence without its requests, and
``POST /tidemark/records?10000`` adds records to search for. Both answer with their number in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from django.db import connection
from statements import timed
from tcms.wsgi import application as untimed

# isort: split
# Models can be imported only now.
import orm

kiwi = timed(untimed, connection)

_WORKS = {"/tidemark/orm": orm.report, "/tidemark/records": orm.add_records}


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a request, by the interface of WSGI (PEP 3333)."""
    work = _WORKS.get(environ["PATH_INFO"])
    if work is None:
        return kiwi(environ, start_response)
    body = json.dumps(work(int(environ["QUERY_STRING"]))).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]
