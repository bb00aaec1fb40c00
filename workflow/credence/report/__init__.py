"""The page: from findings to one self-contained HTML file."""
