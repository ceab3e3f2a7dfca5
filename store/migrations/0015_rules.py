"""Keep the rule that decided with every page, announced or not; rules were kept for some pages only."""

from peewee import Table

_NAMES = {
    "not there": "not_there",
    "not there yet": "not_there_yet",
    "home page instead": "home_instead",
    "says that it is not there": "says_not_there",
    "error page": "error_page",
    "page of thanks or donations": "courtesy_page",
    "list of a tag, a category or an author": "list_page",
    "another address of a known page": "same_page",
}


def up(migrator, db):
    """Rename the column and its values; other pages have no rule until they are decided again."""
    migrator.migrate(migrator.rename_column("page", "kept_back", "rule"))
    page = Table("page", ("rule",)).bind(db)
    for old, new in _NAMES.items():
        page.update(rule=new).where(page.rule == old).execute()


def down(migrator, db):
    """Go back; rules that had no name before are forgotten."""
    page = Table("page", ("rule",)).bind(db)
    page.update(rule=None).where(page.rule.not_in(list(_NAMES.values()))).execute()
    for old, new in _NAMES.items():
        page.update(rule=old).where(page.rule == new).execute()
    migrator.migrate(migrator.rename_column("page", "rule", "kept_back"))
