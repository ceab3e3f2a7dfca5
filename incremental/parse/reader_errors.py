"""Errors that the extractors of main text and dates raise on hostile pages."""

from __future__ import annotations

from lxml.etree import LxmlError

# Seen from trafilatura, htmldate and lxml on broken trees and odd numbers; they guard only against
# ``ValueError`` themselves.
READER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    LxmlError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
