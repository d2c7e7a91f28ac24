"""The base of every model that is stored or passed on."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A model that refuses unknown fields and does not change."""

    # Validators are built at first use: most processes use few models.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
