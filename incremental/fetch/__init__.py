"""Fetching: the only way out of Hubwatch.

Every request goes through one :class:`~incremental.fetch.session.Fetcher`, every connection through one
address guard::

    visit -- HostGate.ask?        -- Fetcher.fetch(Request) -------------------------> Response
                                     |  outgoing   a valid URL? headers              |
                                     |  options    credentials per origin            |
                                     |  transport  guard -> checked address -> socket     |
                                     |  failures   error or status code -> FetchStatus    |
                                     |  headers    redirect target, Retry-After           |
                                                                                          |
    politeness.after_visit(HostState, ...) -> when this host may be asked again <---------+
    decoding.decode_body(body, header)     -> text                              <---------+

Only ``transport`` opens sockets; ``robots``, ``politeness`` and ``decoding`` are pure. Import from the
modules: settings load this package on every command. A site can make a fetch fail but never raise: the
result is always a :class:`~incremental.fetch.status.Response` with a
:class:`~incremental.fetch.status.FetchStatus`.
"""
