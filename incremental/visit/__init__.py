"""One visit of a page: fetch, read, and the executors that run visits."""
