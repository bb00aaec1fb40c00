"""Label shift: the composition of a query set, and confidences corrected for it."""
