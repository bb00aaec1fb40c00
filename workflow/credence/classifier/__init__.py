"""Networks that score proteins of known classes, and of unknown ones."""
