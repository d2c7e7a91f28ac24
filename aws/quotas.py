"""Quotas of the account and region, from Service Quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.money.quotas import Quota, QuotaUnknown

if TYPE_CHECKING:
    from mypy_boto3_service_quotas import ServiceQuotasClient
    from mypy_boto3_service_quotas.type_defs import ServiceQuotaTypeDef


class AppliedQuotas:
    """Service Quotas of the account and region."""

    def __init__(self, client: ServiceQuotasClient) -> None:
        self._client = client

    def value(self, quota: Quota) -> float:
        """Return the value of a quota as applied to the account, or else AWS's default.

        Raises
        ------
        QuotaUnknown
            If the service does not return the value.

        """
        try:
            answer = self._read(quota)
        except self._client.exceptions.ClientError as error:
            raise QuotaUnknown(f"the quota {quota.name!r} cannot be read: {error}") from None
        # Service Quotas returns an ErrorReason in place of a value that it cannot determine.
        if "Value" not in answer:
            reason = answer.get("ErrorReason")
            raise QuotaUnknown(f"the quota {quota.name!r} has no value: {reason}")
        return answer["Value"]

    def _read(self, quota: Quota) -> ServiceQuotaTypeDef:
        service, code = quota.service, quota.code
        try:
            return self._client.get_service_quota(ServiceCode=service, QuotaCode=code)["Quota"]
        # Service Quotas API reference, ListServiceQuotas: some quotas have no applied value, only
        # a default.
        except self._client.exceptions.NoSuchResourceException:
            return self._client.get_aws_default_service_quota(ServiceCode=service, QuotaCode=code)[
                "Quota"
            ]
