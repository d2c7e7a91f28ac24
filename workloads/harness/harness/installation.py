"""The installation of a version, in a folder of the cache that is whole or not there.

uv makes the Python environment of a program: its packages and the tools of the harness. A command
of the workload installs any other version, or its user has built its jars.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness.task import ConfigurationError

# A package may be replaced on its way: only files with these hashes are installed.
_TOOLS = Path(__file__).parents[1] / "tools.txt"
_PINS = Path("pins")
# A program that only talks to the system needs packages of its own, and not a version's.
PACKAGES = Path("packages.txt")
# A build of a source distribution needs packages, too.
_BUILD = Path("build.txt")
# The cache moves a finished environment, whose programs, such as pytest, have to find its Python.
_RELOCATABLE = ("--relocatable",)
_DIGITS = 12  # of a digest in the name of a folder
_LONGEST_REASON = 400
# uv's words about a certificate, such as a proxy's, that the machine trusts and uv does not.
_UNTRUSTED = "UnknownIssuer"
_TRUST = (
    "(SSL_CERT_FILE names the file of certificates that uv trusts, such as "
    "/etc/ssl/certs/ca-certificates.crt, which has the certificates of this machine and its proxy.)"
)
_COPY = ("--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy")
_PYTHON = re.compile(r"3\.[0-9]{1,2}")
# The requirements are passed to an installer, so no option and no range is accepted.
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.\[\]-]{0,63}(==[\w.+!-]{1,64}|@\S{1,500})", re.ASCII)


def environment(variables: Mapping[str, str], timeout: float) -> Path:
    """Return the interpreter of the environment of a version; make the environment if missing.

    The file ``pins/<version>.txt`` of the workload, if there is one, has the packages of the
    version and all that they need, with the hashes of their files. ``build.txt`` has those that
    build the packages without wheels, which the pins name by ``--no-binary``. A workload with the
    file ``packages.txt`` has its packages alone, and none of the version.

    Raises
    ------
    ConfigurationError
        If a requirement is not accepted or not pinned, or if uv is missing or cannot install it.
    subprocess.TimeoutExpired
        If the calls of uv take more than ``timeout`` seconds in all.
    """
    own = PACKAGES.read_text(encoding="ascii") if PACKAGES.is_file() else None
    requirements = _requirements(variables) if own is None else []
    pins = _pins(requirements, variables) if own is None else own
    build = [_BUILD.read_text(encoding="ascii")] if _BUILD.is_file() else []
    python = _python(variables)
    made_of = [_TOOLS.read_text(encoding="ascii"), pins, *requirements, *build, *_RELOCATABLE]
    wanted = variables.get("TIDEMARK_PYTHON")
    content = "\n".join([*made_of, *([wanted] if wanted else [])])

    def make(new: Path) -> None:
        uv = _Uv(_program(variables), timeout)
        uv.make(new, python, requirements, pins)

    name = requirements[0].replace("/", "-")[-80:] if requirements else "tools"
    return kept(name, content.encode(), variables, make, wanted) / "bin" / "python"


def fetch_program(new: Path, pins: Path, variables: Mapping[str, str], timeout: float) -> None:
    """Install a pinned package into a folder, its programs into ``bin``, without an environment.

    Raises
    ------
    ConfigurationError
        If uv is missing or cannot install it.
    subprocess.TimeoutExpired
        If uv takes more than ``timeout`` seconds.
    """
    if reason := _Uv(_program(variables), timeout).put(new, pins):
        raise ConfigurationError(f"{pins.stem} could not be fetched: {reason}")


def _python(variables: Mapping[str, str]) -> str:
    """Return the path of the Python of ``TIDEMARK_PYTHON``, or its version for uv to find.

    Without the variable it is the Python of this process. uv finds the Pythons on the ``PATH`` and
    its own, and downloads others where its settings allow it, but knows nothing of pyenv's.
    """
    wanted = variables.get("TIDEMARK_PYTHON")
    if wanted is None:
        return sys.executable
    if not _PYTHON.fullmatch(wanted):
        raise ConfigurationError(
            f"TIDEMARK_PYTHON is {wanted!r}: a version such as 3.13 is accepted."
        )
    if sys.version_info[:2] == tuple(map(int, wanted.split("."))):
        return sys.executable
    of_pyenv = Path.home() / ".pyenv" / "versions"
    found = of_pyenv.glob(f"{wanted}.*/bin/python{wanted}")
    return str(max(found, key=_patch, default=wanted))


def _patch(python: Path) -> Sequence[int]:
    """Return the numbers in the name of pyenv's folder of a Python, such as 3, 13, 10."""
    return [int(number) for number in re.findall(r"\d+", python.parts[-3])]


def _requirements(variables: Mapping[str, str]) -> list[str]:
    others = variables.keys() & {"TIDEMARK_JARS", "TIDEMARK_PREPARE"}
    package = "" if others else variables.get("TIDEMARK_PACKAGE", "")
    requirements = package.split()
    for text in requirements:
        if not _REQUIREMENT.fullmatch(text):
            raise ConfigurationError(
                f"TIDEMARK_PACKAGE is {package!r}; expected requirements such as rocksdict==0.3.23."
            )
    return requirements


def _pins(requirements: list[str], variables: Mapping[str, str]) -> str:
    """Return the pinned packages of a version, '' if its workload pins none."""
    file = _PINS / f"{variables.get('TIDEMARK_VERSION', '')}.txt"
    if not requirements or not file.is_file():
        return ""
    pins = file.read_text(encoding="ascii")
    for requirement in requirements:
        if not re.search(rf"^{re.escape(requirement)} ", pins, re.MULTILINE):
            raise ConfigurationError(
                f"TIDEMARK_PACKAGE has {requirement!r}: the packages of {file} are accepted."
            )
    return pins


def _program(variables: Mapping[str, str]) -> str:
    name = variables.get("TIDEMARK_UV")
    uv = shutil.which(name or "uv")
    if uv is None:
        raise ConfigurationError(
            f"TIDEMARK_UV is {name!r}; expected the path of uv, or no value if uv is on the PATH."
        )
    return uv


class _Uv:
    """The calls of uv, which take at most ``timeout`` seconds in all."""

    def __init__(self, program: str, timeout: float) -> None:
        self._program = program
        self._deadline = time.monotonic() + timeout

    def make(self, new: Path, python: str, requirements: list[str], pins: str) -> None:
        """Make an environment of a Python, a path or a version, with tools and requirements.

        Wheels only, unless the pins say ``--no-binary``: a package that is built here is not the
        released one.
        """
        words = ["venv", "--quiet", *_RELOCATABLE, "--python", python]
        reason = self._failure(*words, str(new))
        reason = reason or self._install(new, ["--require-hashes", "-r", str(_TOOLS)], "")
        if (requirements or pins) and not reason:
            flags = ["--require-hashes", "-r", "-"] if pins else ["-r", "-"]
            reason = self._install(new, flags, pins or "\n".join(requirements))
        if reason:
            subject = " ".join(requirements) or "what the program needs"
            raise ConfigurationError(f"{subject} could not be installed: {reason}")

    def put(self, new: Path, pins: Path) -> str:
        """Install pinned packages into a folder; return the reason if that fails."""
        words = ["pip", "install", "--quiet", "--only-binary", ":all:", "--no-deps"]
        words += ["--python", sys.executable, "--target", str(new)]
        words += ["--require-hashes", "-r", str(pins)]
        # uv's cache comes first: it needs no network.
        return self._failure(*words, "--offline") and self._failure(*words)

    def _install(self, new: Path, flags: list[str], given: str) -> str:
        words = ["pip", "install", "--quiet", "--only-binary", ":all:", "--python", str(new)]
        if _BUILD.is_file():
            words += ["--build-constraints", str(_BUILD)]
        # uv's cache comes first: it needs no network, and an exact version is never out of date.
        if self._failure(*words, "--offline", *flags, given=given):
            return self._failure(*words, *flags, given=given)
        return ""

    def _failure(self, *arguments: str, given: str = "") -> str:
        done = subprocess.run(
            [self._program, *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=max(0.0, self._deadline - time.monotonic()),
            check=False,
        )
        if done.returncode == 0:
            return ""
        # uv draws its reasons as a tree over several lines.
        message = " ".join(re.sub(r"[^ -~]", " ", done.stderr).split())
        if _UNTRUSTED in message:
            return f"{message} {_TRUST}"
        return message or f"exit code {done.returncode}"


def installed(variables: Mapping[str, str], timeout: float) -> Path:
    """Return the folder that the command of ``TIDEMARK_PREPARE`` filled; run it if it has not yet.

    Raises
    ------
    ConfigurationError
        If the command's program is missing, or if it fails.
    subprocess.TimeoutExpired
        If it takes more than ``timeout`` seconds.
    """
    command: list[str] = json.loads(variables["TIDEMARK_PREPARE"])
    version = variables["TIDEMARK_VERSION"]

    def make(new: Path) -> None:
        new.mkdir()
        _run(command, {**variables, "TIDEMARK_PREPARED": str(new)}, timeout)

    return kept(f"{Path.cwd().name}-{version}", _content(command), variables, make)


def _content(command: list[str]) -> bytes:
    """Return a command with the workload's files, whose change may change what it installs."""
    files = (path for path in sorted(Path().rglob("*")) if path.is_file())
    sources = [path for path in files if "__pycache__" not in path.parts]
    parts = [str(Path.cwd()).encode(), *(word.encode() for word in command)]
    return b"\0".join([*parts, *(path.read_bytes() for path in sources)])


def _run(command: list[str], variables: Mapping[str, str], timeout: float) -> None:
    program = shutil.which(command[0], path=variables["PATH"])
    if program is None:
        raise ConfigurationError(
            f"{command[0]} is not on the PATH: it installs version {variables['TIDEMARK_VERSION']}."
        )
    done = subprocess.run(
        [program, *command[1:]],
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stdout.split())[-_LONGEST_REASON:]
        raise ConfigurationError(
            f"version {variables['TIDEMARK_VERSION']} could not be installed: {command[0]} ended "
            f"with exit code {done.returncode}: {reason}"
        )


def jars_of_version(variables: Mapping[str, str]) -> Path:
    """Return the folder with the jars of the version.

    ``TIDEMARK_PACKAGE`` is the name of a folder within the folder of ``TIDEMARK_JARS``, or
    ``NAME@file:///PATH/#sha256=DIGEST`` for another folder.

    Raises
    ------
    ConfigurationError
        If there is no jar, or if the jars of a digest have another one.
    """
    place, advice = json.loads(variables["TIDEMARK_JARS"])
    name, _, url = variables["TIDEMARK_PACKAGE"].partition("@")
    folder = Path(unquote(urlsplit(url).path)) if url else Path(place).expanduser() / name
    # The shell's *.jar has no hidden files.
    found = [jar for jar in folder.glob("[!.]*.jar") if jar.is_file()]
    jars = sorted(found, key=lambda jar: jar.name)
    if not jars:
        raise ConfigurationError(f"{folder} has no file *.jar: {advice}")
    digest = url.rpartition("#sha256=")[2]
    if url and _digest(jars) != digest:
        raise ConfigurationError(f"{folder} has other jars than when the run was planned.")
    return folder


def _digest(jars: Sequence[Path]) -> str:
    """Return the SHA-256 of the lines that ``sha256sum *.jar`` prints in the folder."""
    sums = hashlib.sha256()
    for jar in jars:
        try:
            with jar.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigurationError(f"{jar} cannot be read: {error.strerror}") from None
        sums.update(f"{content}  {jar.name}\n".encode())
    return sums.hexdigest()


def from_maven(
    artifact: str, sha256: str, folder: Path, variables: Mapping[str, str], timeout: float
) -> Path:
    """Return the jar of an artifact of Maven Central, ``group:name:version``, in a folder.

    Raises
    ------
    ConfigurationError
        If Maven is missing or cannot fetch it, or if the jar has another SHA-256.
    subprocess.TimeoutExpired
        If that takes more than ``timeout`` seconds.
    """
    _, name, version = artifact.split(":")
    maven = shutil.which("mvn", path=variables.get("PATH"))
    if maven is None:
        raise ConfigurationError(f"{name} comes from Maven Central: mvn is missing on the PATH.")
    done = subprocess.run(
        [maven, *_COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"],
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stdout.split())[:500] or f"exit code {done.returncode}"
        raise ConfigurationError(f"{name} could not be fetched: {reason}")
    jar = folder / f"{name}-{version}.jar"
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    if found != sha256:
        raise ConfigurationError(f"{jar.name} has the SHA-256 {found}: {sha256} was expected.")
    return jar


def kept(
    name: str,
    content: bytes,
    variables: Mapping[str, str],
    make: Callable[[Path], None],
    python: str | None = None,
) -> Path:
    """Return the folder of ``name`` and ``content`` in the cache; ``make`` it if it is missing.

    ``content`` is all that the folder is made from: other content has another folder. ``python`` is
    the version of its Python, by default this process's.
    """
    cache = Path(variables.get("TIDEMARK_CACHE") or Path.home() / ".cache" / "tidemark")
    digest = hashlib.sha256(content).hexdigest()[:_DIGITS]
    folder = cache / f"{name}_python{python or platform.python_version()}_{digest}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="making-") as making:
            new = Path(making) / "new"
            make(new)
            _publish(new, folder)
    return folder


def _publish(new: Path, folder: Path) -> None:
    try:
        # One step, so that a task that starts meanwhile finds the whole folder or nothing.
        new.rename(folder)
    except OSError:
        # Another task was first: rename never replaces a folder that is not empty.
        if not folder.exists():
            raise
