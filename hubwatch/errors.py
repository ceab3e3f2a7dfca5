"""The root of what Hubwatch raises: the one module that all three packages import.

Everything below it is drawn here; each class stands in the room that raises it::

    HubwatchError
    ├── SettingsError            a setting is wrong: names field, value, way out
    │   └── ListenError          the address for the web page cannot be listened on
    ├── InputError               a URL, pattern or file given by hand is wrong
    ├── FeatureError             a feature of an installed package does not work
    ├── NotFoundError            no such site, page or hub
    │   └── NoVectorError            a page has no vector, so it cannot be compared
    ├── ServerError              a running Hubwatch cannot be reached, or refuses a request
    ├── StoreError               something is wrong with the place where data is kept
    │   ├── StoreUnavailableError    not now, but maybe later without anybody's help
    │   │   ├── StoreLockedError     another process holds the database for too long
    │   │   │   └── AlreadyRunningError  another crawler, or discovery of the topic, is at work
    │   │   ├── StoreLostError       the database server is absent, or closed the connection
    │   │   ├── StoreFencedError     another daemon has taken this one's place
    │   │   ├── StoreFullError       no space is left
    │   │   └── StoreReadOnlyError   the store cannot be written
    │   ├── StoreGoneError       the database was deleted or replaced while it was in use
    │   ├── StoreDamagedError    no sound database of Hubwatch; it is never re-created
    │   ├── StoreTooNewError     written by a later version
    │   └── StorePlaceError      a file or folder that was named cannot be used; nothing was done
    ├── HubClassifierError       names the file, the place and the way out
    │   ├── ModelError           a model folder is damaged, foreign, too new, or not there
    │   └── TrainingError        the data cannot train a classifier
    ├── TopicError               a topic that cannot be learned
    │   ├── TopicModelError      a stored model is damaged, foreign or too new
    │   └── TreeError            a semantic tree cannot be read
    ├── LostVisitError           a worker ended in a visit, or cannot be reached; the visit is due again
    ├── EmbeddingError           texts cannot be embedded now: no package, a damaged model
    └── LimitError               never leaves its room: ends reading at a bound, and becomes a status
        ├── LimitReachedError    of parsing
        └── TooLargeError        of a page that is fetched

A site that cannot be fetched or parsed is no error but a value with a status. The address guard's
``ForbiddenAddressError`` stands outside: it travels through urllib3, which lets pass its own. So does
``ReaderBugError``, a bug in a reader's process with its trace.
"""

from __future__ import annotations


class HubwatchError(Exception):
    """What a user can mend; the message names the way out."""


class LimitError(HubwatchError):
    """A bound was met; caught in the room that set it."""
