"""The root of the checkout, which holds ``cdk``, ``suites``, ``queries`` and ``workloads``.

In the Lambda asset the root holds ``tidemark``, ``queries`` and ``suites``.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
