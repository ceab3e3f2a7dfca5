"""Routes of the web pages and the feeds."""
