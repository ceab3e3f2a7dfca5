"""The web page, the API and the feeds, served by the daemon or by ``hubwatch serve``.

One request::

    browser ── guard ──────────────────── route ────────── store
               known Host? small body?    one function,    a connection of the
               who asks? may they?        one thread       thread's own, short
               from our own page?                          transactions

- :mod:`guard` stands before every route, those that are not there included: who may not read is
  told nothing. What is public is listed in it by name.
- :mod:`access` knows passwords, tokens and sessions; :mod:`throttle` slows down who guesses.
- Routes read and write the store as the command line does while a daemon runs: through the same
  functions, on a connection of their own. The daemon notices within seconds.
- :mod:`views` and :mod:`templates` make pages, :mod:`api` JSON, :mod:`feeds` feeds; what came from
  sites is text everywhere.

An interface: only the command line imports it. Nothing here opens a connection to anywhere.
"""
