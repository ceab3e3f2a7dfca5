"""Why something is (not) a hub, (not) told, (not) found: from the stored evidence."""
