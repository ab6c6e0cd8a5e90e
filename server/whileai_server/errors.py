"""Why the service did not start."""


class StartError(Exception):
    """One sentence for the person at the terminal; the command exits with 2."""
