"""Run a program in the environment of a version: ``python -S -m harness.preparation WORD ...``.

The environment has the packages of the version, or the program's own packages, the tools of the
harness and nothing else. It is made before any clock starts, once for each version, and kept in the
cache. Without words this program only makes it. A failure is one line of the log and exit code 2.

The program is ended ``TIDEMARK_DEADLINE_SECONDS`` after the start of its preparation, with the exit
code 124.

Further variables than every task has: ``TIDEMARK_PACKAGE`` has the requirements of the version,
separated by spaces. ``TIDEMARK_PREPARE`` has a command instead, as a JSON list of words, which
installs the version into the folder ``TIDEMARK_PREPARED``. ``TIDEMARK_JARS`` has a folder and an
advice, as a JSON list: the folder has a folder of jars for each version, which becomes
``TIDEMARK_PREPARED``, and the advice says how to get them. ``TIDEMARK_PROFILER`` names the profiler
that the program runs under, and ``TIDEMARK_PROFILE_HZ`` its samples in a second.
``TIDEMARK_VERSIONS`` has versions that are made without a program, as a JSON list of the variables
of each. ``TIDEMARK_CERTIFICATES`` has PEM certificates that are trusted, as the system's are.
``TIDEMARK_PYTHON`` is the version of the Python that runs the program, by default this process's.
``TIDEMARK_UV`` names uv's program, by default ``uv`` on the ``PATH``; ``TIDEMARK_CACHE`` names
the cache, by default ``~/.cache/tidemark``.
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import deadline, log
from harness.installation import PACKAGES, environment, installed, jars_of_version
from harness.profilers import profiler
from harness.rounds import ROUND
from harness.task import ConfigurationError

LONGEST_SECONDS = 600
_ROOT = str(Path(__file__).parents[1])
# The variables that uv, requests and boto3 read the file of certificates from.
_TRUST = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE")


def prepare(variables: dict[str, str], timeout: float) -> dict[str, str]:
    """Return the variables of a program that finds the version first on its ``PATH``.

    Raises
    ------
    ConfigurationError
        If the version cannot be installed.
    subprocess.TimeoutExpired
        If the preparation takes more than ``timeout`` seconds in all.
    """
    deadline = time.monotonic() + timeout
    jars = {}
    if "TIDEMARK_JARS" in variables:
        jars["TIDEMARK_PREPARED"] = str(jars_of_version(variables))
    python = environment(variables, timeout)
    found = {
        **variables,
        **jars,
        "PATH": f"{python.parent}{os.pathsep}{variables.get('PATH', os.defpath)}",
        "PYTHONPATH": _ROOT,
    }
    if "TIDEMARK_PREPARE" in variables:
        left = max(0.0, deadline - time.monotonic())
        found["TIDEMARK_PREPARED"] = str(installed(found, left))
    return found


def prepare_round(variables: dict[str, str], timeout: float) -> dict[str, str]:
    """Return the variables of a round, with the variables of each version's process.

    A version that cannot be installed drops alone, with the reason in the log.

    Raises
    ------
    ConfigurationError
        If no version can be installed.
    """
    deadline = time.monotonic() + timeout
    given = json.loads(variables[ROUND])
    prepared = []
    for version in given["versions"]:
        own = {"TIDEMARK_VERSION": version["version"], "TIDEMARK_PACKAGE": version["package"]}
        try:
            found = prepare({**variables, **own}, max(0.0, deadline - time.monotonic()))
        except (ConfigurationError, subprocess.TimeoutExpired) as reason:
            log.error("Preparation", str(reason), version["name"])
            continue
        changed = {name: text for name, text in found.items() if text != variables.get(name)}
        prepared.append({**version, "variables": {**own, **changed}})
    if not prepared:
        raise ConfigurationError("No version of the round could be installed.")
    # The program of the round itself runs with the Python of the first version.
    return {
        **variables,
        **prepared[0]["variables"],
        ROUND: json.dumps({**given, "versions": prepared}),
    }


def prepare_each(variables: dict[str, str], timeout: float) -> None:
    """Make the environment of each version of ``TIDEMARK_VERSIONS``, so that no task has to.

    ``timeout`` is the time of each version [s]. It raises the errors of ``prepare``.
    """
    for own in json.loads(variables.get("TIDEMARK_VERSIONS") or "[]"):
        prepare({**variables, **own}, timeout)


def trusting(variables: dict[str, str]) -> dict[str, str]:
    """Return the variables of programs that trust the certificates of ``TIDEMARK_CERTIFICATES``."""
    given = variables.get("TIDEMARK_CERTIFICATES")
    if not given:
        return variables
    system = ssl.get_default_verify_paths().cafile
    known = Path(system).read_text(encoding="utf-8") if system else ""
    with tempfile.NamedTemporaryFile("w", suffix=".pem", delete=False) as file:
        file.write(f"{known}\n{given}\n")
    return {**variables, **dict.fromkeys(_TRUST, file.name)}


def main(words: list[str]) -> int:
    """Prepare the version and run the program, if there is one; return the exit code."""
    began = time.monotonic()
    seconds = os.environ.get("TIDEMARK_DEADLINE_SECONDS", str(LONGEST_SECONDS))
    try:
        preparing = prepare_round if ROUND in os.environ else prepare
        trusted = trusting(dict(os.environ))
        variables = preparing(trusted, float(seconds))
        if not words:
            prepare_each(trusted, float(seconds))
        left = began + float(seconds) - time.monotonic()
        profiled = _under_profiler(variables, max(0.0, left), strict=not words)
    except (ConfigurationError, ValueError) as refusal:
        log.error("Preparation", str(refusal))
        return 2
    except subprocess.TimeoutExpired:
        log.error("Preparation", f"The version could not be installed in {seconds} seconds.")
        return 2
    except OSError as error:
        log.error("Preparation", f"{error.filename} cannot be written: {error.strerror}.")
        return 2
    if not words:
        return 0
    took = time.monotonic() - began
    log.info("Preparation", f"Prepared {_subject(variables)} in {took:.3f} seconds")
    limited = "TIDEMARK_DEADLINE_SECONDS" in variables
    left = max(0.0, float(seconds) - took) if limited else None
    try:
        return deadline.run([*profiled, *words], variables, left, seconds)
    except OSError as error:
        log.error("Task", f"{error.filename} cannot be run: {error.strerror}.")
        return 127


def _under_profiler(variables: dict[str, str], timeout: float, *, strict: bool) -> list[str]:
    """Return the words that precede the command of a profiled program, none without a profiler.

    A profiler that cannot be set up fails the profile alone, unless nothing else is to be done.
    """
    if "TIDEMARK_PROFILER" not in variables:
        return []
    try:
        file = profiler(variables).found(variables, timeout)
        return ["python", "-m", "harness.sampling", str(file)]
    except (ConfigurationError, OSError, subprocess.TimeoutExpired) as reason:
        if strict:
            raise
        log.info("Profiler", f"No profile: {reason}")
    return []


def _subject(variables: dict[str, str]) -> str:
    if PACKAGES.is_file():
        return "the program"
    if ROUND in variables:
        return f"{len(json.loads(variables[ROUND])['versions'])} versions"
    return variables.get("TIDEMARK_PACKAGE") or f"version {variables['TIDEMARK_VERSION']}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
