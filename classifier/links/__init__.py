"""The order of links to fetch for a topic, ``learned_order.py``.

It learns from what earlier links of the crawl led to: their words, places, lists and vectors.
"""
