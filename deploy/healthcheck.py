"""The health check of the container: asks /healthz at the port of the settings.

Exits with 0 when the daemon answers that all is well, or when the settings turn the web page off: then
there is nobody to ask. Exits with 1 and says why when it does not.
"""

from __future__ import annotations

import ipaddress
import sys
import urllib.error
import urllib.request

from hubwatch.errors import HubwatchError
from incremental.settings import load_settings

TIMEOUT_SECONDS = 10.0


def trouble() -> str:
    """Return what is wrong; empty when nothing is."""
    try:
        settings, _ = load_settings()
    except HubwatchError as error:
        return str(error)
    web = settings.web
    if not web.enabled:
        return ""
    # What listens everywhere listens on loopback, too.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(web.host, web.host)  # noqa: S104 - never bound
    try:
        name = f"[{host}]" if ipaddress.ip_address(host).version == 6 else host  # noqa: PLR2004
    except ValueError:
        name = host
    # No proxy of the environment stands between a container and itself.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{name}:{web.port}/healthz", timeout=TIMEOUT_SECONDS):
            return ""
    except urllib.error.HTTPError as error:
        return f"/healthz says {error.code}: {error.read(500).decode(errors='replace').strip()}"
    except OSError as error:
        return f"/healthz does not answer: {error}"


if __name__ == "__main__":
    if said := trouble():
        print(said, file=sys.stderr)  # noqa: T201 - docker inspect shows it
        sys.exit(1)
