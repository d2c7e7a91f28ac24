"""Service Quotas on one machine: an account that holds the widest run of the largest tasks."""

from __future__ import annotations

from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

from local.cloud.replacements import Replacements
from suites.model import MOST_TASKS
from suites.quotas import VCPUS

_MOST_VCPUS_OF_TASK = 16


def install() -> Replacements:
    """Add the quota of Fargate, which moto does not have."""
    replacements = Replacements()

    def get(backend: ServiceQuotasBackend, service_code: str, quota_code: str) -> dict[str, Any]:
        if (service_code, quota_code) != (VCPUS.service, VCPUS.code):
            return dict(others(backend, service_code, quota_code))
        return {
            "ServiceCode": VCPUS.service,
            "QuotaCode": VCPUS.code,
            "QuotaName": VCPUS.name,
            "Value": float(MOST_TASKS * _MOST_VCPUS_OF_TASK),
        }

    others = replacements.set(ServiceQuotasBackend, "get_service_quota", get)
    return replacements
