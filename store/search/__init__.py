"""The list of announced pages and its indexes: full text, near-duplicates, vectors."""
