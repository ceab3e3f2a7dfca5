"""Keeping a store well: backup, retention, space, checks."""
