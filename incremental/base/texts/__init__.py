"""What people read: one catalogue of texts by key, in English and Chinese.

::

    a rule, a status, a refusal  --> Text("input.at_most", n=5)   English by itself, key and values kept
    command line, API, messages  --> the Text as it is
    web page                     --> words(text)                  in the reader's language
    a column, a report           --> text.stored(), read_text()   key and values
"""

from incremental.base.texts.words import LANGUAGES, Text, Words, hub_why, named, read_text, stored

__all__ = ["LANGUAGES", "Text", "Words", "hub_why", "named", "read_text", "stored"]
