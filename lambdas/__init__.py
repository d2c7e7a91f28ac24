"""One handler for each Task state of the two state machines, and the logic behind them."""
