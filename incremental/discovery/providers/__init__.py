"""Search providers: SearXNG, Brave Search, and our own index of what was read.

::

    SearchProvider  <-  SearxngProvider · BraveProvider   through the one egress
                    <-  OwnIndexProvider                  full text of the page cache
    Metered(provider)   rate, daily quota, back-off; what is over the limit is not asked
"""
