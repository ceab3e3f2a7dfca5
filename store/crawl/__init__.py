"""Queries and writes of the crawler; a visit's outcome is one transaction."""
