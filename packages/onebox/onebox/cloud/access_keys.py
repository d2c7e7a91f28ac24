"""The access keys of one cloud: one for its user, and one for each role.

Each secret follows from the cloud's own random key, so that a program that holds the secret of one
role can sign as no other.
"""

from __future__ import annotations

import hmac


def access_key_id(role: str) -> str:
    """Return the access key id of a role: the name in its ARN, so that a request names its caller.

    A caller outside the cloud has no role and the id ``local``.
    """
    return role.rsplit("/", 1)[-1] or "local"


def secret_access_key(key: str, key_id: str) -> str:
    """Return the secret that belongs to an access key id in the cloud of ``key``."""
    return hmac.new(key.encode(), key_id.encode(), "sha256").hexdigest()
