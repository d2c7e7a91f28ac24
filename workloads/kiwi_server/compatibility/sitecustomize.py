"""Give Kiwi TCMS's JSON-RPC library back what Python 3.11 no longer has: inspect.getargspec."""

import inspect

inspect.getargspec = inspect.getfullargspec
