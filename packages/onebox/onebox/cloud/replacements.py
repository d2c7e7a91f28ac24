"""The cloud's replacements of moto's methods, its refusals, and what it forgets.

moto keeps everything for ever. AWS forgets what has ended after days or weeks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NoReturn, TypeVar

_Kept = TypeVar("_Kept")


def not_honoured(owner: str, name: str, value: object, accepted: str) -> str:
    """Return the sentence that refuses ``name`` of ``owner``, with its value and what is accepted.

    Example: ``Rule nightly has State "ON", which one machine does not honour; accepted: ENABLED.``
    """
    return (
        f"{owner} has {name} {json.dumps(value, default=str)}, which one machine does not honour; "
        f"accepted: {accepted}."
    )


def refuse_unknown(
    owner: str,
    fields: Mapping[str, Any],
    accepted: Collection[str],
    error: Callable[[str], Exception],
) -> None:
    """Raise an error with the name and the value of a field that is not accepted."""
    for name in sorted(fields.keys() - accepted):
        raise error(not_honoured(owner, name, fields[name], ", ".join(sorted(accepted))))


def forget_oldest(
    kept: dict[str, _Kept], size: Callable[[_Kept], float], most: float
) -> Sequence[_Kept]:
    """Remove the oldest entries if those after them have the size ``most``, and return them.

    An entry of the size 0 stays: it has not ended.
    """
    total, forgotten = 0.0, []
    for name, entry in reversed(list(kept.items())):
        own = size(entry)
        if own and total >= most:
            forgotten.append(kept.pop(name))
        total += own
    return forgotten


_INHERITED = object()


class Replacements:
    """The originals of replaced attributes, to be restored."""

    def __init__(self) -> None:
        self._originals: list[tuple[type | ModuleType, str, Any]] = []

    def set(self, owner: type | ModuleType, name: str, replacement: Any) -> Any:  # noqa: ANN401 (any attribute)
        """Replace an attribute; return the original, as ``getattr`` returns it."""
        self._originals.append((owner, name, owner.__dict__.get(name, _INHERITED)))
        original = getattr(owner, name, None)
        setattr(owner, name, replacement)
        return original

    def refuse(self, owner: type, methods: Iterable[str]) -> None:
        """Make one machine lack actions of a service, by moto's names (``start_task``)."""
        for method in methods:
            self.set(owner, method, partial(_lack, method))

    def restore(self) -> None:
        """Put every original back, the last replaced first."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _lack(method: str, *_: object, **__: object) -> NoReturn:
    raise NotImplementedError(f"The {method} action has not been implemented")  # as moto says it
