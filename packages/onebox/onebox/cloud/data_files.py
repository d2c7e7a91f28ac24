"""The data files of botocore and moto: most are read once, and those about EC2's machines never.

Each session of botocore reads its files anew, and moto makes several sessions. moto reads 10 MB
about EC2's instances and images when it is imported, and the one-machine cloud has neither. So
this module must be imported before moto's EC2.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader
from moto.utilities import utils

from onebox.cloud.replacements import Replacements

_REPLACEMENTS = Replacements()


def _read_file(loader: JSONFileLoader, path: str) -> Any:  # noqa: ANN401 (the content of a JSON file)
    # A client changes the model of its service. The cloud has no client of EC2.
    is_own = "/service-2" in path and "/ec2/" not in path
    return _read(loader, path) if is_own else _read_once(path)


@cache
def _read_once(path: str) -> Any:  # noqa: ANN401
    return _read(JSONFileLoader(), path)


def _without_ec2(resource: str) -> Any:  # noqa: ANN401
    return {} if resource.startswith("ec2/") else _load(resource)


_read = _REPLACEMENTS.set(JSONFileLoader, "load_file", _read_file)
_load = _REPLACEMENTS.set(utils, "load_resource", _without_ec2)
