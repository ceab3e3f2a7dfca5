"""WebSub: a feed's hub tells us that it has changed, so that it need not be asked (W3C, 2018).

::

    a visit finds that a page offers a hub        -> kept with what was learned of the page: the Link
                                                     header's hub and self before the page's own
    Pushes.step: offered, or the lease ends soon  -> subscription request for rel=self, through the one
                                                     fetcher; followed where the hub has moved
    the hub asks whether we meant it              -> callback.answer -> Confirmed
    the hub sends what is new                     -> callback.answer -> Ping -> the page is due at once

What a hub sends is a sign, never content: the page is visited as always, so nothing that a stranger
sends reaches the store. The callback is a pure function; whoever serves HTTP mounts it. It is off
until the settings name an address under which the internet reaches that server.
"""
