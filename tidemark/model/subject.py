"""The subject of a suite: how a version of the system becomes a program."""

import operator
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import SchemaError

from tidemark.model.base import Consistent, Frozen
from tidemark.model.instance import Instance
from tidemark.model.refusal import Problem, form, lone, not_one, problem
from tidemark.model.sentences import ONE_LINE, listed, shown
from tidemark.model.version_order import VERSION, VERSION_WORDS, knows_order, version_order

_VERSION = form(f"^{VERSION}$", VERSION_WORDS)
_PACKAGE = form(
    r"^[a-z][a-z0-9-]{0,63}$",
    "a small letter, and up to 63 small letters, digits and hyphens after it",
)
# Source: OCI Distribution Specification, "Pulling manifests", and the grammar of image references
# of the project Distribution: a registry with its port, a name of small letters, and a tag.
_REGISTRY = r"[A-Za-z0-9]+([.-][A-Za-z0-9]+)*(:[0-9]{1,5})?/"
_PATH = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_TAG_PART = r"[A-Za-z0-9_.-]{0,63}"
IMAGE_NAME = rf"({_REGISTRY})?{_PATH}(/{_PATH})*"
"""The form of an image's name without its tag, as a part of a regular expression."""
_IMAGE = form(
    rf"^{IMAGE_NAME}:{_TAG_PART}\{{version\}}{_TAG_PART}$",
    "an image with {version} once, in its tag, such as ghcr.io/x/y:{version}",
)
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_FOLDER = form(r"^(~/|/)[!-~]{1,200}$", "a path without spaces that begins with / or ~/")
_SOURCE = form(r"^(https|file)://[!-~]{1,300}$", "the https:// URL of a Git repository")
VersionText = Annotated[str, Field(pattern=_VERSION)]
Line = Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_LINE)]
_REQUIREMENT = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,63}}(\[[a-z0-9,._-]+\])?=={VERSION}")
_MOST_REQUIREMENTS = 20
_RELEASE = "a version such as 1.4.0, or a list of requirements such as [deltalake==0.20.2]"
_KINDS = ("package", "image", "prepare", "folder", "instance")


def _named(versions: object) -> object:
    """Return a list of versions as a mapping of each to itself."""
    if not isinstance(versions, list):
        if isinstance(versions, str | int | float):
            raise ValueError(f"{versions} is one version; expected a list: ['{versions}']")
        return versions
    for version in versions:
        if not isinstance(version, str):
            raise ValueError(f"{shown(version)} is not text; write the version in quotes")
        if versions.count(version) > 1:
            raise ValueError(f"{shown(version)} is given twice")
    return dict(zip(versions, versions, strict=True))


def _release(value: object) -> str | list[str]:
    if isinstance(value, str) and re.fullmatch(VERSION, value):
        return value
    if isinstance(value, list) and 0 < len(value) <= _MOST_REQUIREMENTS:
        requirements = [text for text in value if isinstance(text, str)]
        if len(requirements) == len(value) and all(map(_REQUIREMENT.fullmatch, requirements)):
            return requirements
    raise ValueError(f"{shown(value)} is not accepted; expected {_RELEASE}")


@cache
def _form(pattern: str) -> TypeAdapter[str]:
    """Return the validator of a form, which each reading of a plan needs for every version."""
    return TypeAdapter(Annotated[str, Field(pattern=f"^(?:{pattern})$")])


class MavenBuild(Frozen):
    """The parts of the system's source that `tidemark suite prepare` builds by Maven."""

    folder: Line
    """The folder of the source that has the root of the build, such as ``java``."""
    modules: tuple[Line, ...] = Field(min_length=1, max_length=20)
    """The modules whose jars a version needs, with all that they depend on at run time."""
    options: tuple[Line, ...] = Field(default=(), max_length=20)
    """Further options of Maven, such as ``-Pquick``."""


class Subject(Consistent):
    """A kind of program, exactly one, and the versions of the system in it."""

    package: str | None = Field(default=None, pattern=_PACKAGE)
    """The PyPI package that carries the system."""
    image: str | None = Field(default=None, pattern=_IMAGE, max_length=255)
    """The container image of a version, with ``{version}`` in its tag, such as
    ``ghcr.io/x/y:{version}``. Only an AWS account runs images."""
    prepare: tuple[Line, ...] | None = Field(default=None, min_length=1, max_length=20)
    """The workload's own command that installs the version in ``TIDEMARK_VERSION``."""
    folder: str | None = Field(default=None, pattern=_FOLDER, exclude_if=operator.not_)
    """The folder of your own builds, such as ``~/kiwi``, with a folder of jars for each version.
    Only one machine has it."""
    maven: MavenBuild | None = Field(default=None, exclude_if=operator.not_)
    """How Maven builds the jars of ``folder`` from the system's source."""
    advice: Line | None = Field(default=None, exclude_if=operator.not_)
    """The advice in the message that refuses a version without jars in ``folder``."""
    instance: Instance | None = Field(default=None, exclude_if=operator.not_)
    """The place where an instance that exists reports its version. A run measures the instance of
    an id, and changes no version."""
    source: str | None = Field(default=None, pattern=_SOURCE)
    """The Git repository of the package, from which a run on one machine builds ``git:COMMIT``."""
    form: Line = r"v?[0-9][0-9A-Za-z.+_-]*"
    """A regular expression that a whole version must match before the version is used."""
    versions: Annotated[
        dict[VersionText, Annotated[str | list[str], PlainValidator(_release)]],
        BeforeValidator(_named),
    ] = Field(default={}, max_length=1000)
    """The release of the package or image that carries a version, or the name of its folder of
    jars, or else the version's requirements. In a list, each version is its own release, and so is
    any that fits the form."""

    def contradictions(self) -> Iterator[Problem]:
        """Yield why there is no one kind of program, or a version without its form or release."""
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            yield from not_one(given, _KINDS)
            return
        yield from lone({"folder": self.folder is not None, "advice": self.advice is not None})
        if self.maven and self.folder is None:
            yield problem(("maven",), "only jars are built, and there is no folder for them")
        if self.instance and self.versions:
            yield problem(("versions",), "an instance reports its version; leave the versions out")
        yield from self._misfits()
        for version, release in self.versions.items():
            if isinstance(release, list) and re.split(r"[\[=]", release[0])[0] != self.package:
                first = f"{self.package}== first" if self.package else "a version"
                sentence = f"{listed(release)} is not accepted; expected {first}"
                yield problem(("versions", version), sentence)
            elif sentence := self.misfit_of_tag(version):
                yield problem(("versions", version), sentence)

    def _misfits(self) -> Iterator[Problem]:
        try:
            misfits = [text for text in self.versions if not self.has_form(text)]
        except SchemaError:
            sentence = f"{shown(self.form)} is not accepted; expected a regular expression"
            yield problem(("form",), f"{sentence} without look-around and back-references")
            return
        for text in misfits:
            sentence = f"the version does not have the form {shown(self.form)}"
            yield problem(("versions", text), sentence)

    @property
    def is_packaged(self) -> bool:
        """Whether the versions belong to a package, so that PEP 440 orders them."""
        return self.package is not None

    def version_order(self, version: str) -> str:
        """Return a text that sorts as the versions of the system do."""
        return version_order(version, packaged=self.is_packaged)

    def knows_order(self, versions: Iterable[str]) -> bool:
        """Tell whether it is known which of some versions are older than others."""
        return knows_order(versions, packaged=self.is_packaged)

    def has_form(self, version: str) -> bool:
        """Tell whether a text has the form of the system's versions; no release may carry it.

        Any user may send the text: pydantic's engine matches every form in linear time, while
        ``re`` may take exponential time.
        """
        try:
            _form(self.form).validate_python(_form(VERSION).validate_python(version))
        except ValidationError:
            return False
        return True

    def has(self, version: str) -> bool:
        """Tell whether the release of a version is known."""
        # A mapping says which release carries a version: others are not known.
        own = all(name == release for name, release in self.versions.items())
        return version in self.versions or (own and self.has_form(version))

    def misfit_of_tag(self, version: str) -> str:
        """Return why an image cannot have the version in its tag, '' if it can or is none."""
        tag = self.requirement(version).rpartition(":")[2]
        if self.image is None or _TAG.fullmatch(tag):
            return ""
        accepted = "up to 128 letters, digits and _.-; the first is not . or -"
        return f"{shown(tag)} is not a tag of an image; expected {accepted}"

    def requirement(self, version: str) -> str:
        """Return what installs ``version``.

        For a package these are requirements with spaces between, such as ``rocksdict==0.3.23``;
        for an image its name; for a folder of jars its name; for a command of the workload the
        release; for an instance nothing.
        """
        if self.instance is not None:
            return ""
        release = self.versions.get(version, version)
        if isinstance(release, list):
            return " ".join(release)
        if self.image is not None:
            return self.image.replace("{version}", release)
        return f"{self.package}=={release}" if self.package else release

    def newest_companions(self) -> list[str]:
        """Return the requirements beside the package of the newest listed version."""
        newest = max(self.versions, key=self.version_order, default="")
        release = self.versions.get(newest)
        return release[1:] if isinstance(release, list) else []
