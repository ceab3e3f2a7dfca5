"""Bodies of pages on disk or on an object store."""
