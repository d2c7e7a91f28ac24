"""Announced versions, in parameters of AWS Systems Manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.model.version_order import versions_parameter

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient


class ParameterReleases:
    """The versions that release pipelines have announced."""

    def __init__(self, client: SSMClient, stack: str) -> None:
        self._client = client
        self._stack = stack

    def versions(self, suite: str) -> list[str]:
        """Return the versions that a suite's parameter lists, none if there is no parameter."""
        name = versions_parameter(self._stack, suite)
        try:
            answer = self._client.get_parameter(Name=name)
        except self._client.exceptions.ParameterNotFound:
            return []
        return [version.strip() for version in answer["Parameter"]["Value"].split(",")]
