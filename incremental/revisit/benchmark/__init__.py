"""Policies on trial: worlds of links that come and go, the run, the score, and bounds for it."""
