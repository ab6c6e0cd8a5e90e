"""Another vendor's distribution has the import name `whileai` too; whoever has both installed must hear of it.

Looks for the folder an installer leaves, because importlib.metadata would triple the time of `import whileai`.
"""

import os
import sys
import warnings
from collections.abc import Iterable

OTHER, OURS = "whileai", "whileai-platform"
METADATA = (".dist-info", ".egg-info")


def other_client_installed(path: Iterable[str]) -> bool:
    """Whether the other distribution lies on the import path."""
    return any(name.startswith(f"{OTHER}-") and name.endswith(METADATA) for place in path for name in _names(place))


def warn_of_the_other_client() -> None:
    if other_client_installed(sys.path):
        warnings.warn(
            f"two distributions provide `import whileai`: {OURS} (this one) and {OTHER} (another vendor's client); "
            f"uninstall both and install the one you mean, for this one `pip install {OURS}`",
            RuntimeWarning,
            stacklevel=3,
        )


def _names(place: str) -> list[str]:
    try:
        return os.listdir(place or ".")
    except OSError:  # a zip, or a folder that is not there
        return []
