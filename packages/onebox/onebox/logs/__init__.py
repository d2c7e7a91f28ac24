"""The log store: the events of log groups, in files that survive the process."""
