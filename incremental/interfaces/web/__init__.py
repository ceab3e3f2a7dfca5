"""The web page, the API and the feeds, served by the daemon or by ``hubwatch serve``.

One request::

    browser ── guard ──────────────────── route ────────── store
               Host, body size,           one function,    own connection,
               credentials, scope,        one thread       short transactions
               same origin

- :mod:`guard` runs before every route, unknown paths included, so an unauthorized client learns
  nothing. It lists the public paths.
- :mod:`access` checks passwords, tokens and sessions, and slows down guessing.
- Routes use the store like the command line: the same functions, on their own connection. A running
  daemon notices changes within seconds.
- :mod:`views` and :mod:`templates` make pages, :mod:`api` JSON, :mod:`feeds` feeds. Content from sites
  is always escaped as text.

Only the command line imports this package.
"""
