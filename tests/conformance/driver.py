"""Runs inside either client's own interpreter: evaluates expressions that come as JSON lines, answers with JSON lines.

Each brings the environment it is to be evaluated in. Only names of the public packages are in scope; nothing of the
tests may be imported here.
"""

import importlib
import json
import os
import sys
import traceback
import warnings
from typing import Any

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever a client prints must not mix with the answers

scope = {"whileai": importlib.import_module("whileai"), "importlib": importlib}
for name, module in (("wai", "whileai.simulations"), ("platform", "whileai.platform"), ("ingest", "whileai.ingest")):
    scope[name] = importlib.import_module(module)


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    os.environ.clear()
    os.environ.update(asked["environment"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = eval(asked["expression"], {**scope, **asked["names"]})
        except Exception as error:
            told = {"type": type(error).__name__, "kinds": [kind.__name__ for kind in type(error).__mro__]}
            told |= {"message": str(error), "trace": traceback.format_exc()}
            return {"error": told}
        return {"value": value, "warnings": [str(item.message) for item in caught]}


for line in sys.stdin:
    answers.write(json.dumps(answer(json.loads(line)), default=str) + "\n")
    answers.flush()
