"""Clusters to groups, and the audit of what crosses them."""
