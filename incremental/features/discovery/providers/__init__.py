"""Search providers: SearXNG, Brave Search, and our own index.

::

        SearchProvider  <-  SearxngProvider · BraveProvider     through the one egress
                        <-  OwnIndexProvider                    full text of announced pages
        Metered(provider)   rate, daily quota, back-off; refuses queries over a limit
"""
