"""The client of a deployed Tidemark: it starts and follows runs and reads results and tables."""
