"""What importing the package costs, offers, and says."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import whileai
import whileai.platform
import whileai.simulations
from whileai import _other_client

PACKAGES = [whileai, whileai.simulations, whileai.platform]


def modules() -> list[str]:
    found = pkgutil.walk_packages(whileai.__path__, "whileai.")
    return sorted(module.name for module in found if not module.name.endswith("__main__"))


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("httpx", "pydantic", "rich", "opentelemetry", "numpy", "google", "importlib.metadata", "argparse")
    code = "import sys, whileai, whileai.simulations, whileai.platform; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in heavy if name in loaded] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_that_is_offered_is_there_and_typed(package: ModuleType) -> None:
    tree = ast.parse(Path(inspect.getfile(package)).read_text())
    typed = {
        alias.asname
        for block in tree.body
        if isinstance(block, ast.If)
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    for name in typed:
        assert name is not None
        assert getattr(package, name) is not None
    offered = {
        name for name in dir(package) if not name.startswith("_") and not inspect.ismodule(getattr(package, name))
    }
    assert offered - {"TYPE_CHECKING", "lazy_names", "warn_of_the_other_client"} == typed


def test_no_offered_name_is_a_module_too() -> None:
    """Importing the module would put it in the name's place."""
    for package in PACKAGES:
        beside = {name.rsplit(".", 1)[1] for name in modules() if name.rpartition(".")[0] == package.__name__}
        offered = {name for name in dir(package) if not inspect.ismodule(getattr(package, name))}
        assert beside & offered == set()


def test_a_name_that_is_not_offered_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'whileai' has no attribute 'nonsense'"):
        _ = whileai.nonsense


def test_the_other_client_on_the_path_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "whileai_platform-0.1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "absent"), ""])
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _other_client.warn_of_the_other_client()
    assert caught == []
    (tmp_path / "whileai-0.86.dist-info").mkdir()
    with pytest.warns(RuntimeWarning, match="two distributions provide `import whileai`: whileai-platform"):
        _other_client.warn_of_the_other_client()


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_tasks_are_told_apart_by_scenario_then_task_then_prompt() -> None:
    key = whileai.simulations.task_key
    assert key({"scenario_id": "a", "task_id": "b", "prompt": "c"}) == "a"
    assert key({"scenario_id": "", "task_id": "b", "prompt": "c"}) == "b"
    assert key({"scenario_id": None, "prompt": "c"}) == "c"
    assert key({"scenario_id": 7}) == "7"
    assert key({}) == ""
