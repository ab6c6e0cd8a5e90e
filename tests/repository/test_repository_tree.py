"""What must hold for the tree itself, so that a clone is complete, tidy and says how it is used."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("dialects", "instrumentation", "client", "registry", "ingest", "collector", "query", "server")
TARGETS = ("help", "setup", "demo", "serve", "test", "soak", "lint", "bench")
AT_THE_ROOT = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "compose.yaml",
    "constraints.txt",
    "otel-collector.yaml",
    "pyproject.toml",
    ".ci/run",
    ".pre-commit-config.yaml",
)
LONGEST_MODULE = 700


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def lines_of_tracked_files(pattern: str) -> list[str]:
    """Matching lines of the text files that git knows; a pattern's own spelling must not match itself."""
    command = ["git", "grep", "-nIE", pattern]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


@pytest.mark.parametrize("name", AT_THE_ROOT)
def test_what_a_visitor_looks_for_is_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 0


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_few_lines_what_it_is_for(room: str) -> None:
    lines = (ROOT / room / "README.md").read_text().splitlines()
    assert lines[0] == f"# {room}"
    assert len(lines) <= 20
    assert "start" in "\n".join(lines).lower()


def test_every_room_is_packed_and_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    packed = [path.partition("/")[0] for path in project["hatch"]["build"]["targets"]["wheel"]["packages"]]
    assert set(packed) == set(ROOMS)
    assert set(project["hatch"]["build"]["dev-mode-dirs"]) == set(ROOMS)
    assert set(ROOMS) <= set(project["mypy"]["files"])


def test_the_makefile_lists_every_target_by_itself() -> None:
    listed = subprocess.run(["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True)
    shown = {line.split()[1] for line in listed.stdout.splitlines()}
    assert set(TARGETS) <= shown


def test_the_build_can_be_run_as_it_is() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_pinned_versions_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    wrong = [line for line in lines if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!+_-]*", line)]
    assert wrong == []
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines]
    assert len(names) == len(set(names))


def test_no_file_holds_a_path_of_somebodys_machine() -> None:
    assert lines_of_tracked_files("(/[r]oot/|/[w]ork/[a-z]|/[U]sers/[a-z]+/|/[h]ome/[a-z]+/)") == []


def test_no_file_names_the_host_of_a_package_registry() -> None:
    hosts = r"(files\.[p]ythonhosted|[p]ypi\.org/simple|registry\.[n]pmjs|deb\.[d]ebian\.org)"
    assert lines_of_tracked_files(hosts) == []


def test_no_file_points_out_of_the_tree() -> None:
    assert lines_of_tracked_files(r"\.\./[s]hared") == []


def test_no_module_has_grown_out_of_hand() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in tracked("*.py")
        if (count := len(path.read_text().splitlines())) > LONGEST_MODULE
    }
    assert long == {}


def test_test_files_have_names_of_their_own() -> None:
    names = [path.name for path in tracked("tests/**/test_*.py")]
    assert len(names) == len(set(names))
