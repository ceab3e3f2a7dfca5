"""The hub classifier's versions, cached until they change: loading one takes 0.2 s, too much per request."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from classifier.hub import HubClassifier
from classifier.hub.registry import ActiveClassifier
from incremental.topics.training.model_versions import list_models

_Stamp = tuple[tuple[str, int], ...]


class HubModels:
    """The folder of versions; thread-safe. Raises ModelError if not even the shipped version loads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._active = ActiveClassifier(root)
        self._lock = threading.Lock()
        self._seen: _Stamp | None = None
        self._rows: list[dict[str, Any]] = []

    def current(self) -> HubClassifier:
        """Return the active version."""
        with self._lock:
            return self._active.current()

    def versions(self) -> list[dict[str, Any]]:
        """Return every version, oldest first; see :func:`.list_models`."""
        with self._lock:
            seen = self._stamp()
            if seen != self._seen:
                self._rows, self._seen = list_models(self._root), seen
            return self._rows

    def _stamp(self) -> _Stamp:
        try:
            entries = sorted(self._root.iterdir())
            return tuple((entry.name, entry.stat().st_mtime_ns) for entry in entries)
        except OSError:
            # No folder yet, or a version is being installed.
            return ()
