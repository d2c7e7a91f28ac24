"""Reports and comparisons: their contents, and their forms as Markdown and as a page."""
