"""The root of the checkout, which holds ``cdk``, ``suites``, ``queries`` and ``workloads``.

A wheel has these in the package, beside the modules; ``pyproject.toml`` puts them there. In the
Lambda asset the root holds ``tidemark``, ``queries`` and ``suites``.
"""

from __future__ import annotations

from pathlib import Path

CODE = Path(__file__).parents[2]
"""The folder of the packages ``tidemark`` and ``aws``."""

_INSTALLED = CODE / "tidemark" / "checkout"

IS_CHECKOUT = not _INSTALLED.is_dir()
"""Whether this is a checkout, or the Lambda asset, and no wheel."""

ROOT = CODE if IS_CHECKOUT else _INSTALLED
