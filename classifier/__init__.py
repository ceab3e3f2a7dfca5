"""What a page is: hub or topic page, and on which topic."""
