"""Tools for assistants over the Model Context Protocol: what is new and why. Nothing can be changed.

::

    command    `hubwatch mcp`
    server     tools that read the store, with what websites wrote marked as data; and the protocol, over
               standard input and output: the one module that knows the package mcp
"""

from incremental.base.features import Feature

FEATURE = Feature(
    name="assistants",
    summary="Assistants ask what is new over the Model Context Protocol.",
    commands={
        "Operate": {
            "mcp": "incremental.features.assistants.command:mcp Serve tools to an assistant."
        }
    },
)
