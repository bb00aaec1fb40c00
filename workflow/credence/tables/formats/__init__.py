"""Input formats, one file each."""
