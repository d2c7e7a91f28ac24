"""The data files of botocore and moto: each is read once, and those about EC2 never.

Each session of botocore reads its files anew, and moto makes several sessions. moto reads 10 MB
about EC2's instances and images when it is imported, and the one-machine cloud has neither. So
this module must be imported before moto's EC2.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader
from moto.utilities import utils

from local.cloud.replacements import Replacements

_REPLACEMENTS = Replacements()


@cache
def _read_once(path: str) -> Any:  # noqa: ANN401 (the content of a JSON file)
    return _read(JSONFileLoader(), path)


def _without_ec2(resource: str) -> Any:  # noqa: ANN401
    return {} if resource.startswith("ec2/") else _load(resource)


_read = _REPLACEMENTS.set(JSONFileLoader, "load_file", lambda _, path: _read_once(path))
_load = _REPLACEMENTS.set(utils, "load_resource", _without_ec2)
