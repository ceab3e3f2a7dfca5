"""What a page is: hub or article, and on which topic."""
