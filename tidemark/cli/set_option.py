"""The options of ``tidemark run`` that set parameters of a suite and narrow its axes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import click

from tidemark.model.base import NAME
from tidemark.model.parameters import Value
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.run_spec import RunSpec
from tidemark.model.sentences import shown
from tidemark.model.suite import Suite

_OPTIONS = {
    "parameters": "--set",
    "axes": "--axis",
    "tests": "--tests",
    "profile.hz": "--profile",
    "profile": "--profile",
    "bisect.base": "BASE",
    "bisect.new": "NEW",
    "bisect.metric": "--metric",
}
_FIELD = re.compile(
    rf"^(?P<field>{'|'.join(map(re.escape, _OPTIONS))})(\.(?P<name>\w+))?:", re.MULTILINE
)

set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of a parameter of the suite; may be repeated.",
)
axis_option = click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=A,B,…",
    help="Values of an axis to measure; may be repeated. If not given, the suite's default values.",
)


def check_pairs(settings: Sequence[str], axes: Sequence[str], words: Sequence[str]) -> None:
    """Refuse ``--set NAME VALUE``, whose value is among the words that belong to no option."""
    for option, given in (("--set", settings), ("--axis", axes)):
        for name in (each for each in given if words and re.fullmatch(NAME, each)):
            value = next((word for word in words if word[:1].isdigit()), words[0])
            raise Refused(f"{option}: expected = before the value: {option} {name}={value}")


def split(settings: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Return the value of each setting as text, by name; refuse a setting without a name."""
    texts: dict[str, str] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name and equals) or name in texts:
            sentence = f"{shown(setting)} is not accepted; expected NAME=VALUE, each name once"
            raise Refused(f"{option}: {sentence}")
        texts[name] = text
    return texts


def split_axes(settings: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each axis by its name; refuse an axis without a name."""
    texts = split(settings, "--axis")
    return {name: [value.strip() for value in text.split(",")] for name, text in texts.items()}


def resolved(fields: Mapping[str, object], suite: Suite) -> RunSpec:
    """Return the run that options ask for; a refusal has the names of the options."""
    try:
        return resolve_request(fields, {suite.name: suite})
    except Refused as refused:
        raise Refused(_FIELD.sub(_option, str(refused))) from None


def _option(field: re.Match[str]) -> str:
    option = _OPTIONS[field["field"]]
    return f"{option} {field['name']}:" if field["name"] else f"{option}:"


def parsed(texts: Mapping[str, str], suite: Suite) -> dict[str, Value]:
    """Return values of the types that the suite declares; values of unknown names stay texts."""
    known = suite.parameters
    return {
        name: known[name].parsed(text) if name in known else text for name, text in texts.items()
    }
