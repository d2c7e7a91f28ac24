"""The QuickSight dashboard on one machine: its definition and data sets as one HTML page."""
