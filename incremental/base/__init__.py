"""What every room stands on: time, threads, URLs, scopes, plain text, errors."""
