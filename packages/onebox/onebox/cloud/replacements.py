"""Attributes of moto's classes and modules, replaced while a cloud runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NoReturn

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

    def refuse(
        self, owner: type | ModuleType, methods: Iterable[str], error: Callable[[str], Exception]
    ) -> None:
        """Make a service's actions fail by name; ``methods`` are moto's names (``start_task``)."""
        for method in methods:
            self.set(owner, method, _refusal(method.title().replace("_", ""), error))

    def restore(self) -> None:
        """Put every original back, the last replaced first."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _refusal(action: str, error: Callable[[str], Exception]) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise error(f"{action} is not supported on one machine.")

    return refuse
