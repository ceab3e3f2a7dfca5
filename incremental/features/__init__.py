"""The features of Hubwatch itself. Each stands in a folder of its own, and imports the core alone."""
