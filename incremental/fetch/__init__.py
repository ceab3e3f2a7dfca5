"""Fetching: the one way out of Hubwatch, and the manners on it.

Every outbound request, of whatever purpose, goes through one
:class:`~incremental.fetch.session.Fetcher`, and every connection through one address guard::

    visit -- HostGate.ask?        -- Fetcher.fetch(Request) -------------------------> Response
                                     |  outgoing   is it a URL, and whose?                |
                                     |  options    what is this origin shown?             |
                                     |  transport  guard -> checked address -> socket     |
                                     |  failures   error or status code -> FetchStatus    |
                                     |  headers    redirect target, Retry-After           |
                                                                                          |
    politeness.after_visit(HostState, ...) -> when this host may be asked again <---------+
    decoding.decode_body(body, header)     -> text                              <---------+

Only ``transport`` opens sockets. ``robots``, ``politeness`` and ``decoding`` are pure: they are
handed answers and times. Import from these modules: this interface stays light, because settings pass
through it on every command. A site can make a fetch fail, never raise: whatever happens is a
:class:`~incremental.fetch.status.Response` with a :class:`~incremental.fetch.status.FetchStatus`.
"""
