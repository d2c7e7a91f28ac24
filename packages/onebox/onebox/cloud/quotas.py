"""Service Quotas on one machine, with the quotas of an app that moto lacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

from onebox.app import Quota
from onebox.cloud.replacements import Replacements


def install(quotas: Iterable[Quota]) -> Replacements:
    """Add quotas that moto lacks."""
    replacements = Replacements()
    values = {(quota.service, quota.code): quota for quota in quotas}

    def get(backend: ServiceQuotasBackend, service_code: str, quota_code: str) -> dict[str, Any]:
        quota = values.get((service_code, quota_code))
        if quota is None:
            return dict(original(backend, service_code, quota_code))
        return {
            "ServiceCode": quota.service,
            "QuotaCode": quota.code,
            "QuotaName": quota.name,
            "Value": quota.value,
        }

    original = replacements.set(ServiceQuotasBackend, "get_service_quota", get)
    return replacements
