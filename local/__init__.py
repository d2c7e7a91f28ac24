"""Tidemark on one machine: the cloud, the Logs Insights engine and the command line."""
