"""Classification of pages: hub or article, and topic."""
