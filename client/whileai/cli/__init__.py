"""The `whileai` command: what a person or a coding agent does with the service from a terminal."""

from whileai.cli.main import main

__all__ = ["main"]
