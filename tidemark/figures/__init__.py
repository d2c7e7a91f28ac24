"""Statistics: pure functions from logged lines and trials to rates, summaries and verdicts."""
