"""What a run left out because the machine lacks something, in one line with the command that helps."""

from collections import Counter
from collections.abc import Iterable

REMEDIES = {
    "Chromium": "apt-get install chromium, or .venv/bin/playwright install chromium --with-deps",
    "PostgreSQL": "apt-get install postgresql",
}
"""By a word of the reason why a test was skipped."""


def untested(reasons: Iterable[str]) -> str:
    """Return the line for these *reasons* of skipped tests, empty if nothing helps or nothing is missing."""
    missing = Counter(word for reason in reasons for word in REMEDIES if word in reason)
    parts = [f"{word} ({count} skipped; {REMEDIES[word]})" for word, count in missing.items()]
    return f"Not tested for want of {'; '.join(parts)}" if parts else ""
