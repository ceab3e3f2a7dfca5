"""Topics: editing, models, and the active topics of a crawl."""
