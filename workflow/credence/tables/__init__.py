"""The edge: reading, checking and writing files."""
