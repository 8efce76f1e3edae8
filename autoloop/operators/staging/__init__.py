"""A Python value becomes loop variables and comes back."""
