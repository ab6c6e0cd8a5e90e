"""Run by Python before the program, because `whileai run` puts this folder on its path: instruments the process.

Whatever goes wrong here is one line on stderr; the program runs in any case. The environment's own `sitecustomize`,
which this one stands before, is run too.
"""

import importlib
import os
import sys


def _step_aside() -> None:
    """Let the next `sitecustomize` on the path run as if this one were not there."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as problem:
        if problem.name != "sitecustomize":
            raise
    finally:
        if this is not None:
            sys.modules.setdefault("sitecustomize", this)


def _instrument() -> None:
    try:
        from whileai.agent_process import instrument

        instrument()
    except Exception as problem:
        print(f"whileai: this process is not traced: {type(problem).__name__}: {problem}", file=sys.stderr)


_step_aside()
_instrument()
