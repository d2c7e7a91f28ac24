"""CloudWatch Logs Insights over log files: the query language, and the readers of log files."""

__version__ = "0.2.0"
