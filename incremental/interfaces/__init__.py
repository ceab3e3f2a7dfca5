"""Where people and programs read and change what is known: command line, web, messages, assistants."""
