"""What a verb of the command is: a name, a line of help, its arguments, and what runs."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from whileai.cli.output import Output


def no_arguments(_parser: argparse.ArgumentParser) -> None:
    """For a verb that takes none."""


@dataclass(frozen=True)
class Verb:
    name: str
    help: str
    run: Callable[[argparse.Namespace], Output]
    arguments: Callable[[argparse.ArgumentParser], None] = no_arguments
    needs_key: bool = True  # takes --api-key
