"""An instance of a system that exists, and the place where it reports its version."""

import operator
import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tidemark.model.base import Consistent, Name
from tidemark.model.instance_names import (
    NAMES_FORMS,
    RESERVED_WORDS,
    InstanceName,
    Pattern,
    Property,
    words,
)
from tidemark.model.refusal import Problem, problem
from tidemark.model.sentences import shown

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
_PART = r"([A-Za-z0-9._-]|\{instance\}|\{account\})+"
_ADDRESS = rf"^s3://[a-z0-9][A-Za-z0-9._-]{{2}}{_PART}(/{_PART})+$"
# Amazon S3 user guide, "General purpose bucket naming rules".
_BUCKET = re.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
INSTANCE_FORMS = {
    _ADDRESS: "an address such as s3://kiwi-{instance}-config/instance.properties, with three "
    "characters before {instance}",
    **NAMES_FORMS,
}
"""The accepted texts of an instance in words, by regular expression."""
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
        """Yield why an address is not that of one instance, or has no name of a bucket."""
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
        """Return the forms of a name in a step: those of its word, or else the name itself."""
        named = words(text)
        if named and named[0] in self.names:
            return self.names[named[0]].forms
        return (text,)
