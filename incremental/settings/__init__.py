"""Settings: ``hubwatch.toml``, overridden by ``HUBWATCH_SECTION_FIELD`` in the environment.

Everything has a default; an unknown name or invalid value is refused with the field, the value and how
to fix it.

::

    sections    what can be set
    checks      what types cannot say
    loading     file and environment -> Settings
    reference   every setting with meaning, default, unit and range, from the types
    template    the file that ``hubwatch init`` writes, and docs/settings.md
"""

from incremental.settings.checks import windows
from incremental.settings.loading import build_settings, load_settings, settings_path
from incremental.settings.sections import RevisitSettings, Settings, SiteSettings

__all__ = [
    "RevisitSettings",
    "Settings",
    "SiteSettings",
    "build_settings",
    "load_settings",
    "settings_path",
    "windows",
]
