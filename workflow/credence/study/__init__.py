"""Experiments about method: what confidences say of inputs that are none of the classes."""
