"""Load of a system that is 20 % slower from version 1.2 on: ``python -IS load.py load``.

Its rates scatter by some percent, and a trial of the same number has the same rate in every run.
"""

import os
import random
import re

VERSION = float(os.environ["TIDEMARK_VERSION"])
TRIAL = re.findall(r"/(\d+)/", os.environ["TIDEMARK_DATA"])[-1]

expected = 1000 * (0.8 if VERSION >= 1.2 else 1)
print(f"The load ran at {random.Random(TRIAL).gauss(expected, 20)} records per second", flush=True)
