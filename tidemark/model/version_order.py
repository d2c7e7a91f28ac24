"""The names of versions and their order, and the names of the sides of a comparison.

Versions of a package are ordered by PEP 440, as ``packaging`` reads them. Others are ordered by
Semantic Versioning 2.0.0 where they have its form, as ``semver`` reads them, or else by PEP 440.
The order of a version that has neither form, such as a branch or a commit, is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tidemark.model.refusal import Refused
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import listed, shown

if TYPE_CHECKING:
    from packaging.version import Version as Pep440
    from semver.version import Version as SemVer


VERSION = "[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}"
"""The form of a version, as a part of a regular expression."""
VERSION_WORDS = "a letter or digit, and up to 63 letters, digits and .+_- after it"
"""The form of a version in words."""
NEWEST, PREVIOUS, DEPLOYED = "newest", "previous", "deployed"
_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)*")
# A commit such as 12345a67 would be a pre-release of 12345.
_COMMIT = re.compile(r"(?=.*[a-f])[0-9a-f]{7,40}")
# Git describes a commit after 9.8.4 so, which would be a pre-release of 9.8.4.
_DESCRIBED = re.compile(r"-[0-9]+-g[0-9a-f]{7,40}")
_WIDTH = 8
_NUMBERS_COMPARED = 4
_FIRST, _LAST = "n", "t"
"""The marks of numbers that sort before and after words."""
_UNKNOWN = "~"
"""The beginning of the place of a version of unknown order, after all others.

A version that has no place by its name has this alone; a run adds the places that it names its
versions in, see ``typed_order``.
"""


class _Place(NamedTuple):
    """The place of a version in the order, as texts that sort."""

    release: str
    """The place of the release, or of the release from which a build was made."""
    build: str = ""
    """The place of a build behind its release, '' for a release."""
    form: str = ""
    """The form that decides the place, '' for numbers alone, which have every form."""


def version_order(version: str, *, packaged: bool) -> str:
    """Return a text that sorts as versions do: 9.8.4rc1, 9.8.4, a build of 9.8.4, 9.10.0.

    ``packaged`` tells whether the version is one of a package. All texts sort by their code points,
    in Python and in SQL. A build sorts behind its release. Versions that have no place sort last,
    and have one text.
    """
    place = _place(version, packaged=packaged)
    return f"{place.release}{place.build}" if place else _UNKNOWN


def typed_order(number: int) -> str:
    """Return the text that sorts a version of unknown order by its number in the run."""
    return f"{_UNKNOWN}{number:04}"


def release_order(order: str) -> str | None:
    """Return the place of the release of a version's place; None if its order is not known.

    A build is as new as the release in its name.
    """
    return None if order.startswith(_UNKNOWN) else order.partition("+")[0]


def release_numbers(order: str) -> tuple[int, ...]:
    """Return the numbers of the release of a version's place, four or more: 1.9 is 1.9.0.0."""
    found = re.match(r"[0-9.]*", order)
    numbers = [int(text) for text in (found[0] if found else "").split(".") if text]
    return (*numbers, *[0] * (_NUMBERS_COMPARED - len(numbers)))


def knows_order(versions: Iterable[str], *, packaged: bool) -> bool:
    """Tell whether each of some versions is known to be older or newer than each other one.

    The names of two builds of one release do not tell which is older, and pre-releases in different
    forms have no common order.
    """
    places = [_place(version, packaged=packaged) for version in versions]
    known = sorted(place for place in places if place)
    return len(places) < 2 or (
        len(known) == len(places)
        and len({place.form for place in known if place.form}) <= 1
        and not any(
            older.release == newer.release and bool(older.build) == bool(newer.build)
            for older, newer in pairwise(known)
        )
    )


@lru_cache(4096)
def _place(version: str, *, packaged: bool) -> _Place | None:
    """Return the place of a version, None if its order is not known."""
    # Most versions need no library, whose import would slow each cold start.
    if _NUMBERS.fullmatch(version):
        return _Place(_numbers(map(int, version.split("."))) + ",")
    if not packaged:
        if _COMMIT.fullmatch(version) or _DESCRIBED.search(version):
            return None
        if read := _semver(version):
            return _semver_place(read)
    return _pep440_place(version)


def _semver(version: str) -> SemVer | None:
    from semver.version import Version  # noqa: PLC0415

    try:
        return Version.parse(version.removeprefix("v"))
    except ValueError:
        return None


def _semver_place(version: SemVer) -> _Place:
    """Return the place by Semantic Versioning, section 11, which leaves builds without an order."""
    numbers = _numbers([version.major, version.minor, version.patch])
    build = f"+{_words(version.build, _FIRST)}" if version.build else ""
    if not version.prerelease:
        return _Place(f"{numbers},", build)
    return _Place(f"{numbers}#{_words(version.prerelease, _FIRST)},", build, "semver")


def _pep440_place(version: str) -> _Place | None:
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    try:
        read = Version(version)
    except InvalidVersion:
        return None
    build = f"+{_words(read.local, _LAST)}" if read.local else ""
    is_plain = not (read.is_prerelease or read.is_postrelease or read.epoch)
    return _Place(_pep440_release(read), build, "" if is_plain else "PEP 440")


def _pep440_release(version: Pep440) -> str:
    """Return the place of a version without its local part.

    Its marks sort as PEP 440 demands, "Summary of permitted suffixes and relative ordering": ``!``
    before a developmental release, ``#`` before a pre-release, ``,`` at the end, and ``,p`` before
    a post-release.
    """
    epoch = f"E{_number(version.epoch)}!" if version.epoch else ""
    pre = f"#{version.pre[0]}{_number(version.pre[1])}" if version.pre else ""
    dev = f"!{_number(version.dev)}" if version.dev is not None else ","
    post = f",p{_number(version.post)}" if version.post is not None else ""
    return f"{epoch}{_numbers(version.release)}{pre}{post}{dev}"


def _numbers(release: Iterable[int]) -> str:
    """Return the place of the numbers of a release: 1.0 is 1.0.0."""
    numbers = list(release)
    while numbers[1:] and not numbers[-1]:
        numbers.pop()
    return ".".join(map(_number, numbers))


def _number(number: int) -> str:
    """Return a number of a fixed width; a longer number begins with a mark and its own width."""
    digits = str(number)
    if len(digits) <= _WIDTH:
        return digits.zfill(_WIDTH)
    return f":{len(digits):04}{digits}"


def _words(words: str, of_number: str) -> str:
    """Return the place of words and numbers; their marks sort as numbers and words do."""
    return "".join(
        f"{of_number}{_number(int(word))}!" if word.isdecimal() else f"r{word}!"
        for word in words.split(".")
    )


def latest(released: Iterable[str], *, packaged: bool) -> dict[str, str]:
    """Return the version of ``newest`` and, if there are two, the version of ``previous``.

    Raises
    ------
    Refused
        If it is not known which versions they are.

    """

    def order(version: str) -> str:
        return version_order(version, packaged=packaged)

    newest_first = sorted(sorted(set(released)), key=order, reverse=True)
    # The third one has to be known as older than the second.
    if not knows_order(newest_first[:3], packaged=packaged):
        raise Refused(
            f"versions: the order of {listed(newest_first[:3])} is not known, so that none is "
            f"{NEWEST} or {PREVIOUS}; name the versions"
        )
    return dict(zip((NEWEST, PREVIOUS), newest_first, strict=False))


def versions_at(version: str, before: str) -> str:
    """Return in words which versions the runs on either side of a change measured."""
    return f"{version} after {before}" if version != before else f"{version} before and after"


def versions_parameter(stack: str, suite: str) -> str:
    """Return the name of the SSM parameter in which release pipelines list a suite's versions."""
    return f"/{stack}/{suite}/versions"


_SIDE = re.compile(rf"(?P<run>{RUN_ID})(/(?P<of>{VERSION}))?|(?P<version>{VERSION})")


class SideName(NamedTuple):
    """A parsed name of a side: a run, a version, or both."""

    run_id: str | None
    version: str | None


def parse_side(side: str, name: str) -> SideName:
    """Return the parsed name of a side; ``side`` is BASE or NEW, for the refusal.

    Raises
    ------
    Refused
        If the name does not have the form of a version, a run, or a version of a run.

    """
    match = _SIDE.fullmatch(name)
    if not match:
        raise Refused(
            f"{side}: {shown(name)} names no version and no run; expected the form of 9.8.4, "
            "20261120T124455Z-0a1b2c or 20261120T124455Z-0a1b2c/9.8.4"
        )
    return SideName(match["run"], match["of"] or match["version"])
