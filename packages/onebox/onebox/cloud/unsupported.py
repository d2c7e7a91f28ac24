"""The message of any service's error about a setting that one machine does not honour."""

from __future__ import annotations

import json


def not_honoured(owner: str, name: str, value: object, accepted: str) -> str:
    """Return the sentence that refuses ``name`` of ``owner``, with its value and what is accepted.

    Example: ``Rule nightly has State "ON", which one machine does not honour; accepted: ENABLED.``
    """
    return (
        f"{owner} has {name} {json.dumps(value, default=str)}, which one machine does not honour; "
        f"accepted: {accepted}."
    )
