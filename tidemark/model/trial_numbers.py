"""The numbers of a run's trials: those that count in rates, and behind them the profiled ones."""

# The history of a run's execution holds 25,000 events. A trial takes 13 of them, which leaves room
# for about four retries in every trial. Trial numbers have three digits.
MOST_TRIALS = 900
FIRST_PROFILED = MOST_TRIALS + 1
"""The number of the first profiled trial: a run until decided may grow to ``MOST_TRIALS``."""
MOST_PROFILED = 99


def is_profiled(number: int) -> bool:
    """Tell whether a trial of this number is profiled, and so counts in no rate."""
    return number >= FIRST_PROFILED


def place_of(number: int) -> int:
    """Return the place of a trial among those of its kind, counted from 1."""
    return number - FIRST_PROFILED + 1 if is_profiled(number) else number
