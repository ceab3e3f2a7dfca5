"""Whether a page is only a shell, whose scripts draw what people see. Pure.

::

    no script, or links, or text of its own    a page like any other, however short
    an empty element for an application        shell: <div id="root"></div>
    its noscript text asks for JavaScript      shell
    nothing at all but scripts                 shell
    else                                       a page like any other: an empty list, an error
"""

import re
from dataclasses import dataclass
from enum import StrEnum

# A menu of the server's and a line in the footer are no content yet.
MOST_LINKS = 5
MOST_TEXT_CHARS = 400
# "Loading ..." and the like; an error says more.
_BARE_CHARS = 16
# Where frameworks put what they draw: React, Next, Gatsby, Vue, Nuxt, Angular, Svelte, Quasar, Ember, Blazor.
_MOUNTS = frozenset(
    {
        *("root", "app", "__next", "___gatsby", "__nuxt", "__layout", "main-app", "app-root"),
        *("react-root", "reactroot", "vue-app", "svelte", "q-app", "ember-app", "application"),
        *("appmount", "app-mount", "root-app", "app-container", "react-app", "spa", "blazor-app"),
    }
)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s*-?script|脚本|腳本|скрипт", re.IGNORECASE)


class ShellSign(StrEnum):
    """By what a shell was recognised."""

    MOUNT = "mount"
    """An empty element that an application fills."""
    NOSCRIPT = "noscript"
    """It asks for JavaScript."""
    SCRIPTS = "scripts"
    """It has nothing but scripts."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a page has of its own, before any script ran."""

    links: int = 0
    """Distinct targets of its links, except fragments of the same page."""
    text_chars: int = 0
    """Visible text without title, scripts and noscript."""
    scripts: int = 0
    """Scripts that run: of files, or in the page."""
    script_files: int = 0
    mount: bool = False
    """It has an empty element for an application."""
    noscript: str = ""
    """Text for browsers without scripts, cut."""


def shell_sign(page: Outline) -> ShellSign | None:
    """Return by what *page* is a shell; None = it is none."""
    if not page.scripts or page.links > MOST_LINKS or page.text_chars > MOST_TEXT_CHARS:
        return None
    if page.mount:
        return ShellSign.MOUNT
    if _ASKS_FOR_SCRIPTS.search(page.noscript):
        return ShellSign.NOSCRIPT
    bare = page.links == 0 and page.text_chars <= _BARE_CHARS and page.script_files > 0
    return ShellSign.SCRIPTS if bare else None


def is_mount(name: str) -> bool:
    """Return whether an element of this id or name is one that applications fill."""
    return name.lower() in _MOUNTS
