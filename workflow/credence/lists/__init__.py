"""From confidences to decisions: thresholds, lists and what is known of their errors."""
