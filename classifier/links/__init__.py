"""The order of links to fetch for a topic: four orders behind ``orders.py``.

The default, ``learned_order.py``, learns from what earlier links of the crawl led to: their words, places,
lists and vectors.
"""
