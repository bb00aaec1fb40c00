"""What forecasts an event from features: one module each, one line in the registry."""
