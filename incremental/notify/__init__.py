"""Messages: what is new, told where people look, once.

::

    announced pages -> channel's filter -> outbox -> rhythm (at once, digest, quiet hours, cap)
                                                  -> message (template) -> Apprise, guarded
"""
