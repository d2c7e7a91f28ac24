"""Log files as events: their forms, clocks, damage and parts."""
