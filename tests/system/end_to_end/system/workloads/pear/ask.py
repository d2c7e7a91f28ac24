"""Load on an instance: ``python -IS ask.py answer``; a longer id gives a longer answer."""

import os

print(f"The answer has {len(os.environ['TIDEMARK_INSTANCE'])} bytes")
