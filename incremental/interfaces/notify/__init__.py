"""Messages about new pages, each page once per channel.

::

    announced pages -> channel's filter -> outbox -> rhythm (at once, digest, quiet hours, cap)
                                                  -> message (template) -> Apprise, guarded
"""
