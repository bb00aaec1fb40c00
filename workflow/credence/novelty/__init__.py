"""What is known of a protein from those that lie near it."""
