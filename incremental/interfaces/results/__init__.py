"""Shared by all interfaces: results as JSON, and lookup by name."""
