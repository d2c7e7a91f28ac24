"""Recorder of the role calls in a running cloud, with one folder per cloud."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from moto.moto_server.werkzeug_app import DomainDispatcherApplication

from onebox.cloud.endpoint import Endpoint
from onebox.cloud.replacements import Replacements
from tests.system.policies.calls import Call, read_call
from tests.system.policies.deployment import Deployment, read_deployment

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_DEPLOYMENT = "deployment.json"
_CALLS = "calls.jsonl"


@dataclass(frozen=True)
class Recording:
    """Recording of the calls in one deployment, each call once."""

    deployment: Deployment
    calls: tuple[Call, ...]


class Recorder:
    """Recorder that writes each call at once, because its process may be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: set[str] = set()
        self._lock = threading.Lock()

    def deployed(self, endpoint: Endpoint) -> None:
        """Write the deployment of the app, with its grants."""
        text = read_deployment(endpoint).to_json()
        (self._folder / _DEPLOYMENT).write_text(text, encoding="utf-8")

    def record(self, call: Call) -> None:
        """Write a call unless it is already written."""
        line = call.to_json()
        with self._lock:
            if line not in self._written:
                self._written.add(line)
                with (self._folder / _CALLS).open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")


@contextmanager
def recorded(folder: Path, *, of_owner: bool = False) -> Iterator[Recorder]:
    """Record the calls of roles to the cloud of this process while the context is open.

    They are below ``folder``. With ``of_owner`` the calls are those of whoever owns the cloud.
    """
    subfolder = folder / uuid4().hex
    subfolder.mkdir(parents=True)
    recorder, replacements = Recorder(subfolder), Replacements()
    app: Any = None

    def answer(
        server: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        if call := read_call(environ, of_owner=of_owner):
            recorder.record(call)
        return app(server, environ, start_response)  # type: ignore[no-any-return]

    app = replacements.set(DomainDispatcherApplication, "__call__", answer)
    try:
        yield recorder
    finally:
        replacements.restore()


def read_recordings(folder: Path) -> list[Recording]:
    """Return the recordings below a folder; leave out clouds without calls."""
    return [_read(path.parent) for path in sorted(folder.glob(f"*/{_CALLS}"))]


def _read(folder: Path) -> Recording:
    text = (folder / _DEPLOYMENT).read_text(encoding="utf-8")
    return Recording(Deployment.from_json(text), read_calls(folder / _CALLS))


def read_calls(file: Path) -> tuple[Call, ...]:
    """Return the calls of a file that a recorder wrote."""
    return tuple(map(Call.from_json, file.read_text(encoding="utf-8").splitlines()))
