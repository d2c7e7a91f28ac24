"""The sentences of refusals."""

import pytest

from tidemark.model.refusal import Refused


def refused(function, *arguments, **keywords):
    """Return the sentence with which a function refuses its arguments."""
    with pytest.raises(Refused) as refusal:
        function(*arguments, **keywords)
    return str(refusal.value)
