"""What staged code changes elsewhere."""
