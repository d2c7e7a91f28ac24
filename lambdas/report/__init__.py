"""The report of one run: what it says, then as Markdown and as one self-contained page."""
