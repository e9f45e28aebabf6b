"""A Frame as JSON, text and Markdown: the diagnosis and what belongs to it."""
