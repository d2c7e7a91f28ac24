"""The releases of a system by now, from an index, a registry, a folder or its suite."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.error import HTTPError
from urllib.parse import unquote, urlencode, urljoin
from urllib.request import Request, urlopen

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename
from packaging.utils import parse_sdist_filename as parse_sdist
from packaging.utils import parse_wheel_filename as parse_wheel
from packaging.version import InvalidVersion, Version
from pydantic import BaseModel

from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite

_PYPI = "pypi.org"
PYPI = f"https://{_PYPI}/simple"
_SECONDS = 30
# PEP 691, "JSON Serialization"; OCI Distribution Specification, "Listing tags".
_INDEX = "application/vnd.pypi.simple.v1+json"
_MOST_PAGES = 20
_MOST_BYTES = 64 << 20
_NUMBERS = re.compile(r"v?[0-9]+(\.[0-9]+)*")
_Answer = TypeVar("_Answer", bound=BaseModel)
_HUB, _HUB_NAMES = "registry-1.docker.io", "library/"


class _File(BaseModel):
    filename: str
    yanked: bool | str = False


class _Index(BaseModel):
    files: tuple[_File, ...]


class _Tags(BaseModel):
    tags: tuple[str, ...] | None


class _Token(BaseModel):
    token: str = ""
    access_token: str = ""


class Releases(NamedTuple):
    """The versions of a system."""

    versions: tuple[str, ...]
    """The versions that a run may measure, in ascending order."""
    unlisted: tuple[str, ...]
    """The releases that the suite's file gives no version to, although it maps the others."""


def releases(suite: Suite, index: str = PYPI) -> Releases:
    """Return the releases of a suite's system.

    Raises
    ------
    Refused
        If an index, a registry or a folder does not answer, or the order of the versions is not
        known.

    """
    subject = suite.subject
    found = set(_found(suite, index))
    own = {version for version in found if subject.has(version)}
    versions = {*subject.versions, *own}
    if not subject.knows_order(versions):
        raise Refused(f"SUITE: the order of {listed(sorted(versions))} is not known")
    known = {each for version in versions for each in _release_of(suite, version)}
    return Releases(
        tuple(sorted(versions, key=subject.version_order)), tuple(sorted(found - known - versions))
    )


def _release_of(suite: Suite, version: str) -> Iterator[str]:
    """Yield the names that an index, a registry or a folder has for a version."""
    release = suite.subject.versions.get(version, version)
    yield release if isinstance(release, str) else release[0].partition("==")[2]


def _found(suite: Suite, index: str) -> Collection[str]:
    subject = suite.subject
    if subject.package:
        return _of_index(index, subject.package)
    if subject.image:
        listed_releases = (each for own in subject.versions for each in _release_of(suite, own))
        return set(_like(listed_releases, _of_registry(subject.image)))
    if subject.folder:
        folder = Path(subject.folder).expanduser()
        return {each.name for each in folder.glob("*/") if any(each.glob("*.jar"))}
    return ()


def _of_index(index: str, package: str) -> set[str]:
    """Return the versions of a package that have at least one file that is not yanked."""
    address, user = _without_user(index)
    url = f"{address.rstrip('/')}/{package}/"
    answer, _ = _asked(url, {"Accept": _INDEX, **user}, _Index)
    files = (file.filename for file in answer.files if not file.yanked)
    return {version for file in files for version in _version_of(file)}


def _without_user(url: str) -> tuple[str, dict[str, str]]:
    """Return a URL that may be shown, and the header with the user and password that it had."""
    scheme, slashes, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    user, at, host = host.rpartition("@")
    if not at:
        return url, {}
    name, _, password = user.partition(":")
    encoded = base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return f"{scheme}{slashes}{host}{slash}{path}", {"Authorization": f"Basic {encoded}"}


def _version_of(file: str) -> Iterator[str]:
    try:
        version = (parse_wheel if file.endswith(".whl") else parse_sdist)(file)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return
    if not version.is_prerelease:
        yield str(version)


def _of_registry(image: str) -> set[str]:
    """Return what stands for the version in the tags of an image."""
    name, _, form = image.rpartition(":")
    before, after = (re.escape(part) for part in form.split("{version}"))
    fits = re.compile(f"{before}(.+){after}")
    return {found[1] for tag in _tags(name) if (found := fits.fullmatch(tag))}


def _like(known: Iterable[str], tags: Iterable[str]) -> Iterator[str]:
    """Yield the tags of releases: in the form of a known one, or of numbers if none is known.

    An image also has tags such as ``latest``, ``12``, ``12.4-alpine`` and ``20240101``.
    """
    forms = set(map(_form, known))
    for tag in tags:
        is_like = _form(tag) in forms if forms else _NUMBERS.fullmatch(tag)
        if is_like and not _is_prerelease(tag):
            yield tag


def _form(release: str) -> str:
    return re.sub(r"[0-9]+", "0", release)


def _is_prerelease(tag: str) -> bool:
    try:
        return Version(tag).is_prerelease
    except InvalidVersion:
        return False


def _tags(name: str) -> Iterator[str]:
    host, _, path = name.partition("/")
    if not path or not ({*".:"} & {*host} or host == "localhost"):
        host, path = _HUB, name if path else f"{_HUB_NAMES}{name}"
    scheme = "http" if re.match(r"localhost|127\.", host) else "https"
    url, headers = f"{scheme}://{host}/v2/{path}/tags/list?n=1000", dict[str, str]()
    for _ in range(_MOST_PAGES):
        try:
            answer, links = _asked(url, headers, _Tags)
        except _TokenWanted as wanted:
            headers = {"Authorization": f"Bearer {_token(wanted.challenge)}"}
            answer, links = _asked(url, headers, _Tags)
        yield from answer.tags or ()
        following = re.match(r"<([^>]+)>", links)
        if following is None:
            return
        url = urljoin(url, following[1])


class _TokenWanted(Refused):
    """A registry that gives its tags to a token alone, which anybody may have."""

    def __init__(self, sentence: str, challenge: Mapping[str, str]) -> None:
        super().__init__(sentence)
        self.challenge = challenge


def _token(challenge: Mapping[str, str]) -> str:
    query = urlencode({name: challenge.get(name, "") for name in ("service", "scope")}, safe=":/")
    answer, _ = _asked(f"{challenge['realm']}?{query}", {}, _Token)
    return answer.token or answer.access_token


def _asked(url: str, headers: Mapping[str, str], form: type[_Answer]) -> tuple[_Answer, str]:
    """Return the JSON at an address, and the links of its answer."""
    if not url.startswith(("https://", "http://")):
        raise Refused(f"{url} is not accepted; expected an address that begins with https://")
    try:
        request = Request(url)  # noqa: S310
        for name, value in headers.items():
            request.add_unredirected_header(name, value)
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            content, links = answer.read(_MOST_BYTES + 1), answer.headers.get("Link", "")
    except HTTPError as error:
        challenge = dict(re.findall(r'(\w+)="([^"]*)"', error.headers.get("WWW-Authenticate", "")))
        sentence = f"{url} answers {error.code}; expected the releases"
        if error.code == 401 and "realm" in challenge and "Authorization" not in headers:
            raise _TokenWanted(sentence, challenge) from None
        raise Refused(sentence) from None
    except (OSError, HTTPException, ValueError) as error:
        raise Refused(f"{url} does not answer: {error}") from None
    if len(content) > _MOST_BYTES:
        raise Refused(f"{url} answers more than {_MOST_BYTES >> 20} MiB; expected the releases")
    try:
        return form.model_validate_json(content), links
    except ValueError:
        raise Refused(f"{url} answers in another form; expected the releases in JSON") from None
