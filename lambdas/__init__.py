"""The Lambda handlers: one for each Task state, and the handlers that are called from outside."""

import gc

# Python looks for garbage after every 700 new objects. What imports and the trials of a run make
# stays in use, so that these searches find nothing and cost a cold start some 8 % of its time.
gc.set_threshold(10_000)
