"""Several tools that answer for the same proteins, combined into one answer."""
