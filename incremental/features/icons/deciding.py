"""What is decided about icons: pure."""

from incremental.base.times import DAY, HOUR

# SVG is left out: it is a document that may hold scripts.
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\x00\x00\x01\x00": "image/x-icon",
    b"GIF8": "image/gif",
    b"\xff\xd8\xff": "image/jpeg",
}
_AGAIN_SECONDS = 30 * DAY


def media_type(content: bytes) -> str:
    """Return the type of a picture by its first bytes; empty = it is none that is shown."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), "")


def wait_seconds(failures: int) -> float:
    """Return when to ask again after so many *failures* in a row, in seconds; 0 = the icon came."""
    waits = HOUR * 4.0 ** min(failures - 1, 10)
    return min(waits, _AGAIN_SECONDS) if failures else _AGAIN_SECONDS
