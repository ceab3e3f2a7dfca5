"""Explanations from stored evidence: why a page is (not) a hub, (not) announced, (not) found."""
