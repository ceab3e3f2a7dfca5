"""What the store raises; :mod:`hubwatch_errors` draws the whole tree."""

from __future__ import annotations

from hubwatch_errors import HubwatchError


class StoreError(HubwatchError):
    """Something is wrong with the place where data is kept, not with the data."""


class StoreLockedError(StoreError):
    """Another process holds the database; try again, or stop that process."""


class StoreDamagedError(StoreError):
    """The database cannot be trusted. Restore a backup, or move the file away to start again."""


class StoreTooNewError(StoreError):
    """The database was migrated by a later version of Hubwatch; upgrade, or use another file."""


class StorePlaceError(StoreError):
    """The file or folder that was named cannot be used for this; name another one."""


class StoreRemainsError(StorePlaceError):
    """The folder holds what is left of a store; it is replaced only when that is asked for."""
