"""Topics: what users say of them, the models that learn from it, and those at work."""
