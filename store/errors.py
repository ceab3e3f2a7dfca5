"""Errors of the store; :mod:`hubwatch.errors` draws the whole tree."""

from hubwatch.errors import HubwatchError


class StoreError(HubwatchError):
    """The storage location is unavailable; the data may be intact."""


class StoreUnavailableError(StoreError):
    """The store cannot be used now, but may be later without anybody's help: wait and try again."""


class StoreLockedError(StoreUnavailableError):
    """Another process holds the database; try again, or stop that process."""


class StoreLostError(StoreUnavailableError):
    """The database server is absent, restarting, or closed the connection."""


class StoreFencedError(StoreUnavailableError):
    """Another daemon has taken this one's place: nothing more is written until it joins again."""


class StoreFullError(StoreUnavailableError):
    """There is no space left; make room."""


class StoreReadOnlyError(StoreUnavailableError):
    """The store cannot be written: mounted read-only, or without permission."""


class StoreGoneError(StoreError):
    """The database was deleted or replaced while in use; further writes would be lost."""


class StoreDamagedError(StoreError):
    """The database cannot be trusted. Restore a backup, or move the file away to start again."""


class StoreTooNewError(StoreError):
    """The database was migrated by a later version of Hubwatch; upgrade, or use another file."""


class StorePlaceError(StoreError):
    """The given file or folder cannot be used for this; name another."""
