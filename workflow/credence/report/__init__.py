"""The page of a run, built from its findings alone."""
