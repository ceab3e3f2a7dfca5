"""What trains the hub classifier: labels of users and of behaviour, its versions, the nightly training."""
