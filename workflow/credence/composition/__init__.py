"""Label shift: the composition of a use-set, and confidences corrected for it."""
