"""A simulated world whose truth is known: for the demo, for tests, for verification."""
