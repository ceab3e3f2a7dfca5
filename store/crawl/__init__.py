"""What the crawler asks and writes: a visit's outcome in one transaction."""
