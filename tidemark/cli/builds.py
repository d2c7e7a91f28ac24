"""Versions that nobody released: wheels, folders and commits, named on the command line.

A wheel or a folder of jars is measured as it is. Another folder, or a commit, is first built into a
wheel by uv. ``tidemark suite prepare`` has Maven build the jars of a tag.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click

from tidemark.cli.chosen_suite import written_suite
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shortened, shown
from tidemark.model.subject import MavenBuild, Subject
from tidemark.model.version_order import VERSION, VERSION_WORDS

_GIT = "git:"
_REFERENCE = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,99}")
# Source: PyPA specifications, "Binary distribution format".
_WHEEL = re.compile(r"(?P<package>\w[\w.]*)-(?P<version>[^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")
_DIGITS = 8
# A hook of Git names its own repository by these: there Git would check out what is to be built.
_OF_REPOSITORY = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE",
    "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_WORK_TREE",
}  # fmt: skip
# Variables with tokens of GitHub Actions and GitLab CI/CD, keys of AWS and secrets of releases.
_SECRET = re.compile(
    r"(ACTIONS|AWS|TWINE|UV_PUBLISH)_\w*|CI_(\w*PASSWORD|REPOSITORY_URL|JOB_JWT\w*)|"
    r"(\w*_)?(TOKEN|SECRET)"
)
_LONGEST_REASON = 300  # bytes

_PROGRAMS = ("git", "java", "mvn")
# Maven: "Could not find artifact g:a:jar:1.2 in central (…)".
_LACKING = re.compile(r"Could not find artifact (?P<artifact>[^\s,]+)")
_LAST_LINES = 5


@dataclass(frozen=True)
class Build:
    """A version that nobody released."""

    version: str
    """The version of the wheel's name, and the first digits of a digest behind ``+`` or ``.``."""
    url: str
    """The URL of the wheel or of the folder of jars, with its SHA-256."""


def with_builds(fields: Mapping[str, Any], subject: Subject, *, here: bool) -> dict[str, Any]:
    """Return the input of a run with the names of builds in place of paths and commits.

    Raises
    ------
    Refused
        If the run is not measured ``here``, or if one is not a wheel of the subject's package and
        cannot be built.

    """
    texts = [text for text in fields.get("versions", ()) if _is_build(text)]
    if not texts:
        return dict(fields)
    if not here:
        raise Refused(f"versions: {shown(texts[0])} can only be measured on this machine")
    if subject.package is None and subject.folder is None:
        raise Refused(
            f"versions: {shown(texts[0])} is a build; expected a suite whose subject has package "
            "or folder"
        )
    found = {text: _build(text, subject) for text in texts}
    names = {text: build.version for text, build in found.items()}
    return {
        **fields,
        "versions": [names.get(text, text) for text in fields["versions"]],
        "builds": {build.version: build.url for build in found.values()},
        **({"baseline": names.get(text, text)} if (text := fields.get("baseline")) else {}),
    }


def check_built(versions: Sequence[str], subject: Subject) -> None:
    """Refuse versions of a dry run that have to be built first, which writes files."""
    for text in versions:
        is_source = text.startswith(_GIT) or ("/" in text and not text.endswith(".whl"))
        if is_source and subject.folder is None:
            raise Refused(
                f"--dry-run: {shown(text)} has to be built first; expected releases or wheels"
            )


def _is_build(text: str) -> bool:
    return text.startswith(_GIT) or "/" in text or text.endswith(".whl")


def _build(text: str, subject: Subject) -> Build:
    if subject.folder is not None:
        return _of_jars(text)
    if text.startswith(_GIT):
        return _of_commit(text, subject)
    path = Path(text).expanduser().resolve()
    if path.is_dir():
        return _named(_built(path, text), subject, text)
    if path.suffix == ".whl" and path.is_file():
        return _named(path, subject, text)
    raise Refused(f"versions: {shown(text)} is not there; expected a wheel or a folder")


def _named(wheel: Path, subject: Subject, text: str, mark: str = "") -> Build:
    """Return the build of a wheel; ``mark`` stands in its version instead of the file's digest."""
    name = _WHEEL.fullmatch(wheel.name)
    if name is None or re.sub(r"[-_.]+", "-", name["package"]).lower() != subject.package:
        raise Refused(
            f"versions: {shown(text)} is {wheel.name}; expected a wheel of {subject.package}"
        )
    digest = _digest(wheel)
    version = _name(name["version"], mark or digest[:_DIGITS], text)
    return Build(version, f"{wheel.as_uri()}#sha256={digest}")


def _name(version: str, mark: str, text: str) -> str:
    """Return the name of a build: its version has one plus sign, behind the release."""
    release, _, local = version.partition("+")
    name = f"{release}+{'.'.join([*filter(None, [local.replace('+', '.')]), mark])}"
    if not re.fullmatch(VERSION, name):
        raise Refused(
            f"versions: {shown(text)} has the version {shown(name)}; expected {VERSION_WORDS}"
        )
    return name


def _of_jars(text: str) -> Build:
    folder = Path(text).expanduser().resolve()
    # The shell's *.jar has no hidden files.
    found = [jar for jar in folder.glob("[!.]*.jar") if jar.is_file()]
    jars = sorted(found, key=lambda jar: jar.name)
    if not jars:
        raise Refused(f"versions: {shown(text)} has no file *.jar; expected a folder of jars")
    # The preparation of the version compares the digest of what is there by then.
    try:
        sums = "".join(f"{_digest(jar)}  {jar.name}\n" for jar in jars)
    except OSError as error:
        raise Refused(f"versions: {shown(text)} cannot be read: {error.strerror}") from None
    digest = hashlib.sha256(sums.encode()).hexdigest()
    version = _name(folder.name, digest[:_DIGITS], text)
    return Build(version, f"{folder.as_uri()}/#sha256={digest}")


def _of_commit(text: str, subject: Subject) -> Build:
    reference = text.removeprefix(_GIT)
    if subject.source is None:
        raise Refused(
            f"versions: {shown(text)} needs the repository of the suite; set subject.source"
        )
    if not _REFERENCE.fullmatch(reference):
        raise Refused(
            f"versions: {shown(text)} is not accepted; expected a commit such as git:1a2b3c4"
        )
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        git = ["git", "-C", folder]
        _run([*git, "clone", "--quiet", "--no-checkout", subject.source, "."], text)
        _run([*git, "checkout", "--quiet", reference], text)
        commit = _run([*git, "rev-parse", "HEAD"], text)
        wheel = _built_once(commit, Path(folder), text)
    return _named(wheel, subject, text, f"g{commit[:_DIGITS]}")


def _built_once(commit: str, source: Path, text: str) -> Path:
    """Return the wheel of a commit; a second build of it would have another digest."""
    link = _cache() / "commits" / commit
    for wheel in link.glob("*.whl"):
        return wheel.resolve()
    wheel = _built(source, text)
    link.parent.mkdir(exist_ok=True)
    # Another run may have built the commit meanwhile; each run keeps its own wheel.
    with suppress(FileExistsError):
        link.symlink_to(wheel.parent)
    return wheel


def _built(source: Path, text: str) -> Path:
    """Build the wheel of a project and keep it under its digest, where no other replaces it."""
    uv = os.environ.get("TIDEMARK_UV") or str(Path(sys.executable).with_name("uv"))
    _cache().mkdir(parents=True, exist_ok=True)
    # Only within one file system does a file move in one step.
    with tempfile.TemporaryDirectory(dir=_cache(), prefix=".new-") as out:
        words = [uv, "build", "--wheel", "--quiet", "--out-dir", out, str(source)]
        # The build runs the code of the version, which may come from a pull request.
        _run(words, text, frozenset(filter(_SECRET.fullmatch, os.environ)))
        (wheel,) = Path(out).glob("*.whl")
        folder = _cache() / "wheels" / _digest(wheel)
        folder.mkdir(parents=True, exist_ok=True)
        return wheel.replace(folder / wheel.name)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cache() -> Path:
    cache = os.environ.get("TIDEMARK_CACHE")
    return Path(cache or Path.home() / ".cache" / "tidemark").resolve() / "builds"


def _run(words: Sequence[str], text: str, without: Set[str] = frozenset()) -> str:
    """Return what a command prints ``without`` some variables; refuse the version if it fails."""
    hidden = _OF_REPOSITORY | without
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    try:
        done = subprocess.run(
            words,
            # A question for a password would stop the command for ever.
            stdin=subprocess.DEVNULL,
            env={**variables, "GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise Refused(f"versions: {shown(text)} needs {words[0]}, which is missing") from None
    if done.returncode:
        program, lines = Path(words[0]).name, done.stderr.strip() or f"exit code {done.returncode}"
        reason = shortened(lines, _LONGEST_REASON)
        raise Refused(f"versions: {shown(text)} cannot be built; {program} says: {reason}")
    return done.stdout.strip()


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("suite")
@click.argument("options", nargs=-1, metavar="[-- MAVEN OPTIONS]")
@click.option(
    "--source",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A clone of the system's Git repository; nothing in it changes.",
)
@click.option("--tag", required=True, help="The tag to build, such as v0.36.1.")
def prepare(suite: str, options: Sequence[str], source: Path, tag: str) -> None:
    """Build the jars of a version of SUITE from its source.

    The jars get into the folder that the suite names, below the tag without its v. Options behind
    two hyphens go to Maven, such as the version of a library that your repository has.

    \b
    Example:
      tidemark suite prepare sleeper --source ~/src/sleeper --tag v0.36.1
    """
    subject = written_suite(suite).subject
    build = subject.maven
    if build is None or subject.folder is None:
        raise Refused(f"SUITE: versions of {suite} are not built from source; expected no prepare")
    if lacking := [program for program in _PROGRAMS if shutil.which(program) is None]:
        raise Refused(f"PATH: there is no {listed(lacking)}; install what builds the jars")
    jars = _place(subject, tag)
    with tempfile.TemporaryDirectory(prefix="tidemark-build-") as folder:
        checkout, made = Path(folder, "source"), Path(folder, "jars")
        _check_out(source, tag, checkout)
        for words in _commands(build, made, options):
            click.echo(f"Running {words[2]} of Maven for {tag}.")
            _maven(words, checkout / build.folder, Path(folder, "maven.log"))
        for jar in _own_jars(build, checkout):
            shutil.copy2(jar, made)
        jars.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, jars)
    count = len([*jars.glob("*.jar")])
    click.echo(
        f"{jars} has {count} jars. To measure it: tidemark run {suite} --versions {jars.name}"
    )


def _place(subject: Subject, tag: str) -> Path:
    """Return the folder for the jars of a tag; refuse a folder that is there already."""
    version = tag.removeprefix("v")
    if not subject.has_form(version):
        raise Refused(f"--tag: {shown(tag)} is not a version of the form {shown(subject.form)}")
    folder = Path(subject.folder or "").expanduser() / subject.requirement(version)
    if folder.exists():
        raise Refused(f"--tag: {folder} is there already; remove it to build {tag} again")
    return folder


def _check_out(source: Path, tag: str, folder: Path) -> None:
    """Write the files of a tag into a folder."""
    reference = f"refs/tags/{tag}"
    done = subprocess.run(
        ["git", "-C", source, "archive", "--format=tar", reference],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Refused(f"--tag: {source} has no tag {tag} to check out: {' '.join(why)}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _commands(build: MavenBuild, jars: Path, options: Sequence[str]) -> Iterator[list[str]]:
    """Yield the command that builds the modules, and the one that collects what they depend on."""
    modules, common = ["-pl", ",".join(build.modules)], [*build.options, *options]
    yield ["mvn", "-B", "install", "-DskipTests", *common, *modules, "-am"]
    collect = [
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={jars}",
    ]
    yield ["mvn", "-B", *collect, *common, *modules]


def _maven(words: Sequence[str], folder: Path, log: Path) -> None:
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(words, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        _fail(log.read_text(encoding="utf-8", errors="replace"))


def _fail(output: str) -> NoReturn:
    """Refuse a build by the artefact that Maven does not find, or by its first errors."""
    if lacking := _LACKING.search(output):
        raise Refused(
            f"Maven found no {lacking['artifact']}; name a version that your repository has, as in "
            "-- -Daws-java-sdk-v2.version=2.40.2"
        )
    errors = [line for line in output.splitlines() if "ERROR" in line] or output.splitlines()
    print(*errors[:_LAST_LINES], sep="\n", file=sys.stderr)
    raise Refused("Maven could not build the jars; its first errors are above")


def _own_jars(build: MavenBuild, checkout: Path) -> Iterator[Path]:
    """Yield the jars of the modules themselves, without the jars of their tests and sources."""
    for module in build.modules:
        for jar in sorted((checkout / build.folder / module / "target").glob("*.jar")):
            if not jar.stem.endswith(("-tests", "-sources", "-javadoc")):
                yield jar
