"""How good confidences are: in-sample and held-out, never mixed."""
