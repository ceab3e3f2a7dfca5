"""What teaches the hub classifier: labels of users and of behaviour, versions, the nightly lesson."""
