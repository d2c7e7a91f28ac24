"""A program that has the packages of Lambda's Python loaded, and forks into functions.

The imports, and the data files of botocore, are most of what a new environment of a function
costs. Standard input is a socket of the cloud (module runtime); each message on it is JSON. The
program runs as a file, and keeps only the path of this Python and its packages, so that its path
has, as in Lambda, nothing of a checkout, which an editable install would add.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

# Lambda's Python has botocore, and the layer of the functions has Powertools with pydantic.
from aws_lambda_powertools.utilities import parser, typing  # noqa: F401
from botocore.loaders import JSONFileLoader
from botocore.session import Session

_MOST_BYTES = 1 << 20
_PYTHON = (sys.prefix, sys.base_prefix)


def _preload() -> None:
    """Load what any client needs, for all sessions, and leave it out of garbage collections."""
    sys.path[:] = [path for path in sys.path if any(map(Path(path).is_relative_to, _PYTHON))]
    read = JSONFileLoader.load_file
    read_once = cache(partial(read, JSONFileLoader()))

    def load_file(loader: JSONFileLoader, path: str) -> Any:  # noqa: ANN401 (of a JSON file)
        # A client changes the model of its service.
        return read(loader, path) if "/service-2" in path else read_once(path)

    setattr(JSONFileLoader, "load_file", load_file)  # noqa: B010 (mypy refuses an assignment)
    Session().create_client("s3", "us-east-1", aws_access_key_id="-", aws_secret_access_key="-")  # noqa: S106
    gc.collect()
    gc.freeze()


def _serve(cloud: socket.socket) -> dict[str, Any]:
    """Fork functions, and answer how they end; in each new function, return its request."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(cloud, _MOST_BYTES, 2)
        if not message:  # the cloud has ended
            sys.exit()
        request: dict[str, Any] = json.loads(message)
        if "ended" in request:
            answer = _exit_code(request["ended"])
        elif answer := os.fork():
            # Here and in the child, whichever is first: the cloud and the companion need the group.
            os.setpgid(answer, answer)
        else:
            os.setpgid(0, 0)
            cloud.close()
            _accompanied(*descriptors)
            return request
        for descriptor in descriptors:
            os.close(descriptor)
        cloud.send(json.dumps(answer).encode())


def _exit_code(pid: int) -> int:
    """Return the exit code of a function, or of a kill if a killed program forked it."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return -signal.SIGKILL


def _accompanied(output: int, guard: int) -> None:
    """Write to ``output``, and have a companion in the group, which waits for the cloud's end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, target)
    # The companion is nobody's child: a function may wait for all its children.
    if between := os.fork():
        os.waitpid(between, 0)
    elif os.fork():
        os._exit(0)
    else:
        _accompany(guard, nothing)
    for descriptor in (nothing, output, guard):
        os.close(descriptor)


def _accompany(guard: int, nothing: int) -> None:
    """Wait for the end of the cloud, and kill the group."""
    for target, source in ((0, guard), (1, nothing), (2, nothing)):
        os.dup2(source, target)
    os.closerange(3, 64)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def _run(handler: str, directory: str, environment: dict[str, str]) -> None:
    """Run as ``python -m awslambdaric``, which reads its variables when it is imported."""
    os.chdir(directory)
    # The folder is sealed.
    sys.dont_write_bytecode = True
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.path.insert(0, directory)
    sys.argv = ["awslambdaric", handler]
    runpy.run_module("awslambdaric", run_name="__main__")


if __name__ == "__main__":
    _preload()
    _run(**_serve(socket.socket(fileno=os.dup(0))))
