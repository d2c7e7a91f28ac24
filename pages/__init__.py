"""What every HTML page of ours shares: its shell, its sheet of styles, and its charts' looks."""
