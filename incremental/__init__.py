"""Hubwatch's crawler: fetch, parse, decide, revisit, and the daemon that repeats it."""
