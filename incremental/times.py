"""Lengths of time in seconds, and the time that never comes."""

MINUTE = 60.0
HOUR = 3_600.0
DAY = 86_400.0
NEVER = 9e12
"""A due time beyond all visits."""
