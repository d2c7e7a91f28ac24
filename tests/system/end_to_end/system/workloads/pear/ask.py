"""Load on an instance: ``python -IS ask.py answer``; a longer id gives a longer answer."""

import os
import time

time.sleep(1)  # a test looks at what rests meanwhile

print(f"The answer has {len(os.environ['TIDEMARK_INSTANCE'])} bytes")
