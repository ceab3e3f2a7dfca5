"""HTTP API, version 1: the command line for programs. OpenAPI: ``/api/v1/openapi.json``."""
