"""What forecasters look at: modules of features, listed in the registry."""
