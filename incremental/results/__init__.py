"""What every interface shows alike: how results become JSON, times and lengths of time, finding by name."""
