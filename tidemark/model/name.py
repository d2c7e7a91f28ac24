"""The form of the names in a suite."""

from typing import Annotated

from pydantic import Field

NAME = "[a-z][a-z0-9_]{0,31}"
Name = Annotated[str, Field(pattern=f"^{NAME}$")]
