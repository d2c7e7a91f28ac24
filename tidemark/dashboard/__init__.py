"""The QuickSight dashboard as one HTML page, from its definition and data sets."""
