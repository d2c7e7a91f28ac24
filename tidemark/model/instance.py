"""An instance of a system that exists: its names, and the place where it reports its version."""

import operator
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field

from tidemark.model.base import NAME, Consistent, Frozen, Name
from tidemark.model.refusal import Problem, form, problem
from tidemark.model.sentences import shown


class LoggingTask(Frozen):
    """The place where the tasks of a definition log."""

    container: str
    log_group: str
    stream_prefix: str


class KnownInstance(Frozen):
    """The names of an instance, by the words of its suite."""

    names: dict[str, str]
    """The ARN of a cluster, the ARN with its revision of a task definition, and the plain name of
    anything else; a text or ids as the instance's property has them, '' if there are none."""
    logs: dict[str, LoggingTask]
    """The logs of the tasks of each definition that steps run or find."""
    clusters: tuple[str, ...] = ()
    """The ARNs of the clusters that steps run tasks in."""


Thing = Literal["cluster", "task_definition", "queue", "function", "rule"]
Lists = Literal["subnets", "security_groups"]
Kind = Literal[Thing, Lists, "text"]
THINGS = get_args(Thing)
"""The kinds of names whose things are looked up before a run."""
RESERVED_WORDS = ("account", "instance")
"""The words that stand for the number of an instance's account and for its id."""
PROPERTY = form("^[A-Za-z0-9_.-]{1,100}$", "up to 100 letters, digits and ._-")
# The policies that allow to use what has a form have a wildcard for the id. Three fixed characters
# in sequence keep them to the system.
_PART = r"([A-Za-z0-9_./-]|\{instance\}|\{account\})*"
_FORM = form(
    rf"^{_PART}[A-Za-z0-9_./-]{{3}}{_PART}$",
    "letters, digits, ._-/, {instance} and {account}, with three characters in sequence "
    "beside them",
)
IN_BRACES = rf"\{{{NAME}\}}"
_WORD = form(f"^{IN_BRACES}$", "a name of the instance in braces, such as {ingest_cluster}")
# Amazon ECS API reference, ContainerDefinition.
_CONTAINER = form(
    "^[A-Za-z0-9_-]{1,255}$", "the name of a container: up to 255 letters, digits, - and _"
)
_WILD_PART = r"([A-Za-z0-9_./*-]|\{instance\})*"
_PATTERN = form(
    rf"^{_WILD_PART}[A-Za-z0-9_./-]{{3}}{_WILD_PART}$",
    "letters, digits, ._-/, {instance} and * for any text, with three characters in "
    "sequence beside them",
)
Word = Annotated[str, Field(pattern=_WORD)]
Property = Annotated[str, Field(pattern=PROPERTY)]
Form = Annotated[str, Field(pattern=_FORM, max_length=200)]
Pattern = Annotated[str, Field(pattern=_PATTERN, max_length=200)]
# Amazon VPC user guide: ids of subnets and security groups. RunTask takes 16 and 5 of them.
_IDS: Mapping[str, tuple[str, int]] = {
    "subnets": ("subnet-[0-9a-f]{8,17}", 16),
    "security_groups": ("sg-[0-9a-f]{8,17}", 5),
}
_TEXT = re.compile("[!-~]{1,200}")


def words(text: object) -> list[str]:
    """Return the words in braces of a text, without them; none of another value."""
    return [word[1:-1] for word in re.findall(IN_BRACES, text)] if isinstance(text, str) else []


def word_of(text: str) -> str:
    """Return the word of a text that is one in braces."""
    return text[1:-1]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in place of the words in braces; KeyError for an unknown word."""
    return re.sub(IN_BRACES, lambda word: values[word[0][1:-1]], text)


class InstanceName(Consistent):
    """A name of an instance: one of its properties says it, or else one of the forms."""

    kind: Kind
    """The kind of thing: a ``cluster``, ``task_definition``, ``queue``, ``function`` or ``rule``,
    which must exist; ``subnets`` or ``security_groups``, which are ids with commas between them; or
    any other ``text``."""
    properties: tuple[Property, ...] = Field(default=(), max_length=5, exclude_if=operator.not_)
    """The properties of the instance that may have the name; the first with a value counts."""
    forms: tuple[Form, ...] = Field(default=(), max_length=5, exclude_if=operator.not_)
    """The forms of the name, such as ``kiwi-{instance}-ingest``. The value of a property must have
    one of them. Without a property, the first form of something that exists counts."""
    optional: bool = Field(default=False, strict=True, exclude_if=operator.not_)
    """Whether an instance may lack it; the word then stands for an empty text."""
    needs: Property | None = Field(default=None, exclude_if=operator.not_)
    """The property that only instances with the name have, such as instances of one generation. For
    others the word stands for an empty text."""
    container: str | None = Field(default=None, pattern=_CONTAINER, exclude_if=operator.not_)
    """The container of a task definition that gets the arguments of a step and logs its values, by
    default the only one."""

    def contradictions(self) -> Iterator[Problem]:
        """Yield why no instance can have the name."""
        if self.kind in THINGS and not self.forms:
            yield problem(
                ("forms",), "required, since the permissions to use the name are made from it"
            )
        if self.kind in _IDS and (self.forms or not self.properties):
            yield Problem((), f"{self.kind} are ids; expected properties, and no forms")
        if not (self.properties or self.forms):
            yield Problem((), "there are no properties and no forms; expected one or the other")
        if self.container and self.kind != "task_definition":
            yield problem(
                ("container",), f"a {self.kind} has no container; expected kind task_definition"
            )
        for number, text in enumerate(self.forms):
            if self.kind in THINGS and "account" in words(text):
                yield problem(
                    ("forms", number), f"{shown(text)} is not accepted; leave {{account}} out"
                )

    def candidates(self, instance: str, account: str) -> tuple[str, ...]:
        """Return the forms with the id of an instance and its account, in order."""
        values = {"instance": instance, "account": account}
        return tuple(filled(text, values) for text in self.forms)

    def misfit(self, value: str, candidates: tuple[str, ...]) -> str:
        """Return what is expected in place of the value of a property, '' if it is accepted."""
        if self.kind in _IDS:
            pattern, most = _IDS[self.kind]
            ids = value.split(",")
            fits = len(ids) <= most and all(re.fullmatch(pattern, each) for each in ids)
            example = pattern.partition("[")[0] + "0a1b2c3d"
            return "" if fits else f"1 to {most} ids such as {example}, with commas between"
        if candidates:
            return "" if value in candidates else " or ".join(candidates)
        return "" if _TEXT.fullmatch(value) else "1 to 200 printable characters without spaces"


INSTANCE = "instance"
"""The name of the id among the parameters of a run."""
EXAMPLE = "my-id"
_PLACE = "{instance}"
_LONGEST_ID = 32
# The id becomes a part of the names of buckets, which have the narrowest form of all names.
_ID = re.compile(rf"[a-z0-9]([a-z0-9-]{{0,{_LONGEST_ID - 2}}}[a-z0-9])?")
ACCEPTED_ID = f"1 to {_LONGEST_ID} small letters, digits and hyphens, with no hyphen at either end"
# The policy that allows to read the object has a wildcard for the id. The fixed beginning keeps it
# to buckets of the system, and no other text may be a wildcard.
_INSTANCE_PART = r"([A-Za-z0-9._-]|\{instance\}|\{account\})+"
_ADDRESS = form(
    rf"^s3://[a-z0-9][A-Za-z0-9._-]{{2}}{_INSTANCE_PART}(/{_INSTANCE_PART})+$",
    "an address such as s3://kiwi-{instance}-config/instance.properties, with three "
    "characters before {instance}",
)
# Amazon S3 user guide, "General purpose bucket naming rules".
_BUCKET = re.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
Address = Annotated[str, Field(pattern=_ADDRESS, max_length=200)]


def is_instance_id(text: str) -> bool:
    """Tell whether a text can be the id of an instance."""
    return _ID.fullmatch(text) is not None


def of_instance(name: str, instance: str) -> str:
    """Return a name with an id in place of ``{instance}``."""
    return name.replace(_PLACE, instance)


def is_of_instance(name: object) -> bool:
    """Tell whether a value of any type is a name with ``{instance}``."""
    return isinstance(name, str) and _PLACE in name


class Instance(Consistent):
    """The place where an instance reports its version."""

    objects: tuple[Address, ...] = Field(min_length=1, max_length=5)
    """The addresses in S3 of the instance's properties, 1 to 5, such as
    ``s3://kiwi-{instance}-config/instance.properties``. ``{instance}`` stands for its id, and
    ``{account}`` for the number of the account. The first object that can be read counts."""
    version: Property
    """The property that has the version, on a line ``property=version`` of the object."""
    names: dict[Name, InstanceName] = Field(default={}, max_length=40, exclude_if=operator.not_)
    """The [names](#names-of-an-instance) of what the instance has, by the word that steps use in
    braces, up to 40."""
    log_groups: tuple[Pattern, ...] = Field(default=(), max_length=10, exclude_if=operator.not_)
    """The log groups of the instance's own tasks, up to 10, such as ``kiwi-{instance}-*``: a
    deployment may query these alone. ``*`` stands for any text."""
    roles: tuple[Pattern, ...] = Field(default=(), max_length=10, exclude_if=operator.not_)
    """The roles of the instance's own tasks, up to 10, such as ``kiwi-{instance}-*Role*``: a
    deployment may pass these alone, and to tasks of ECS alone. ``*`` stands for any text."""

    def addresses(self, instance: str, account: str) -> Iterator[tuple[str, str]]:
        """Yield the bucket and the key of each object of an instance in an account."""
        for address in self.objects:
            named = of_instance(address, instance).replace("{account}", account)
            bucket, _, key = named.removeprefix("s3://").partition("/")
            yield bucket, key

    def contradictions(self) -> Iterator[Problem]:
        """Yield why an address does not belong to one instance, or lacks the name of a bucket."""
        longest = self.addresses("i" * _LONGEST_ID, "0" * 12)
        for number, (address, (bucket, _)) in enumerate(zip(self.objects, longest, strict=True)):
            if not is_of_instance(address):
                yield problem(("objects", number), f"{shown(address)} has no {{instance}}")
            if not _BUCKET.fullmatch(bucket):
                sentence = f"no bucket has the name in {shown(address)}"
                accepted = f"with an id of {_LONGEST_ID} characters 3 to 63 small letters, digits"
                yield problem(("objects", number), f"{sentence}; expected {accepted} and .-")
        for word in RESERVED_WORDS:
            if word in self.names:
                yield problem(("names", word), "the word is reserved; expected another one")

    def forms(self, text: str) -> tuple[str, ...]:
        """Return the forms of a name in a step: the forms of its word, or else the name itself."""
        named = words(text)
        if named and named[0] in self.names:
            return self.names[named[0]].forms
        return (text,)
