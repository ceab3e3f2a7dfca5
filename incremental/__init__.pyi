"""Hubwatch's crawler: fetch, parse, decide, revisit, and the daemon that repeats it.

There is no ``__init__.py``: Twisted, and so Scrapy, needs a package of the same name, whose own then serves
both. This file tells type checkers that the folder is a package.
"""
