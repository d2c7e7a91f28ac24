"""Service Quotas on one machine: an account with room for the widest run of the largest tasks."""

from __future__ import annotations

from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

from onebox.cloud.replacements import Replacements
from tidemark.model.parameters import MOST_TASKS
from tidemark.money.quotas import VCPUS

_MOST_VCPUS_OF_TASK = 16


def install() -> Replacements:
    """Add the quota of Fargate, which moto lacks."""
    replacements = Replacements()

    def get(backend: ServiceQuotasBackend, service_code: str, quota_code: str) -> dict[str, Any]:
        if (service_code, quota_code) != (VCPUS.service, VCPUS.code):
            return dict(original(backend, service_code, quota_code))
        return {
            "ServiceCode": VCPUS.service,
            "QuotaCode": VCPUS.code,
            "QuotaName": VCPUS.name,
            "Value": float(MOST_TASKS * _MOST_VCPUS_OF_TASK),
        }

    original = replacements.set(ServiceQuotasBackend, "get_service_quota", get)
    return replacements
