"""The adapters over boto3: each class implements one port of the core."""
