"""The one-machine cloud with its engines for Step Functions, Logs Insights and Athena."""
