"""Keeping a store well: backup, copying, retention, space, checks."""
