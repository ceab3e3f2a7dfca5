"""Training of the hub classifier: labels of users and behaviour, versions, nightly training."""
