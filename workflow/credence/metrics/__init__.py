"""How good a confidence is: one file per family of metrics."""
