"""Vectors of pages: which model makes them, in which thread, and where they are kept."""
