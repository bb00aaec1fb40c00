"""Methods that turn a score into the probability of being right."""
