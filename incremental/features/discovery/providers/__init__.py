"""A search provider, SearXNG, and the limits on its use.

::

    SearchProvider  <-  SearxngProvider   through the one egress
    Metered(provider)   rate, daily quota, back-off; refuses queries over a limit
"""
