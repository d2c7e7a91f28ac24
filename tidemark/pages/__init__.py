"""The common parts of our HTML pages: shell, style sheet and style of charts."""
