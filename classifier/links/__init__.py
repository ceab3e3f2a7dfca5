"""Which link to fetch next for a topic, before its page is known: four orders behind ``orders.py``.

The default, ``learned_order.py``, learns from what earlier links of the crawl led to: their words, places,
lists and vectors.
"""
