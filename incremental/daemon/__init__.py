"""The long-running process: its jobs, its health, its assembly."""
