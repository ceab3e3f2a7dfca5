"""The Google Reader API as FreshRSS speaks it, for reader apps; below :data:`BASE`.

::

    streams   ids of streams and items -> queries of the store
    items     announced pages, sites, folders and topics -> what apps read
    routes    the requests

A site is a subscription (``feed/ID``), a folder or a topic a label (``user/-/label/NAME``), an announced page
an item. Its id is the cursor of the page, which grows with time and stays when the page moves.
"""

from __future__ import annotations

BASE = "/api/greader.php"
"""Where FreshRSS has it, so that apps find it by themselves."""
