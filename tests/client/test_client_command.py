"""The `whileai` command."""

import json
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from client.recording_service import Answer, Service

from whileai.cli import added, main

RUN = {
    "traceId": "ab" * 16,
    "startedAt": "2026-01-01T00:00:00Z",
    "agent": "bot",
    "status": "ok",
    "verdict": "pass",
    "prompt": "hi\nthere",
}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_status_says_which_key_without_showing_it(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    platform.answers("GET", "/me", {"tier": "trial", "trial": {"expires_at": "2026-02-01", "lift": "http://x"}})
    code, out, err = run(capsys, "status", "--json", "--api-key", "zp_abcdefghijklmnopqrstuvwxyz")
    assert (code, err) == (0, "")
    shown = json.loads(out)
    assert shown["key"] == "zp_abcd…wxyz"
    assert {key: shown[key] for key in ("api_url", "configured", "source", "tier", "trial_expires_at", "lift")} == {
        "api_url": platform.url,
        "configured": True,
        "source": "api_key=",
        "tier": "trial",
        "trial_expires_at": "2026-02-01",
        "lift": "http://x",
    }


def test_status_without_a_key_or_a_service_still_shows_and_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run(capsys, "status")
    assert code == 1
    assert "configured: False" in out
    assert err.startswith("error: no key for http://127.0.0.1:4318")
    monkeypatch.setenv("WHILEAI_API_URL", "http://127.0.0.1:1")
    code, out, err = run(capsys, "status", "--json", "--api-key", "zp_x")
    assert (code, json.loads(out)["configured"]) == (1, True)
    assert "nothing answers at http://127.0.0.1:1" in err


def test_agents_are_a_table_or_json(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"name": "bot", "traces": 3, "model": None}]
    platform.answers("GET", "/agents", {"agents": rows})
    code, out, err = run(capsys, "agents")
    assert (code, err) == (0, "")
    assert out == "AGENT  TRACES  MODEL  SERVES  CANDIDATE\nbot    3       -      -       -\n"
    assert json.loads(run(capsys, "agents", "--json")[1]) == rows
    platform.answers("GET", "/agents", {"agents": []})
    assert run(capsys, "agents")[1] == "no agents yet\n"


def test_traces_are_listed_with_the_filters_given(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    platform.answers("GET", "/traces", {"traces": [RUN], "next": None})
    code, out, _ = run(capsys, "traces", "--agent", "bot", "--since", "7d", "--verdict", "pass", "--eval-set", "e")
    assert code == 0
    assert platform.last.query == {"agent": "bot", "from": "7d", "verdict": "pass", "evalSet": "e", "limit": "50"}
    assert out.splitlines()[1].split("  ")[0] == RUN["traceId"]
    assert "hi there" in out


def test_one_trace_is_shown_whole(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    platform.answers("GET", "/traces/ab", RUN)
    assert "verdict:   pass" in run(capsys, "traces", "ab")[1]
    assert json.loads(run(capsys, "traces", "ab", "--json")[1]) == RUN
    assert platform.last.query == {"spans": "0"}


def test_cuts_says_the_sentence_and_the_warnings(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    platform.answers("GET", "/traces/cuts", {"rl": {"prompts": 2}, "warnings": ["the holdout is small"]})
    code, out, _ = run(capsys, "cuts", "--agent", "bot", "--model", "m")
    assert code == 0
    assert 'wai.cut(agent="bot", kind="rl")' in out
    assert "warning: the holdout is small" in out
    assert platform.last.query == {"agent": "bot", "from": "all", "model": "m"}


def test_cut_makes_the_sets_and_names_them(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    made = [{"role": "train", "datasetId": "ds_t", "rows": 12, "tasks": 3, "name": "bot-rl"}]
    platform.answers("POST", "/datasets/cut", {"made": made})
    code, out, _ = run(capsys, "cut", "--kind", "rl", "--band", "0.3", "0.7", "--holdout", "0", "--name", "n")
    assert code == 0
    assert out.splitlines()[1].split() == ["train", "ds_t", "3", "12", "bot-rl"]
    assert platform.last.json == {
        "filter": {"from": "all"},
        "kind": "rl",
        "holdout": 0.0,
        "lo": 0.3,
        "hi": 0.7,
        "name": "n",
    }


def test_a_cut_of_nothing_exits_one_with_the_reason(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    platform.answers("POST", "/datasets/cut", Answer(409, {"error": "no task is in the band"}))
    code, out, err = run(capsys, "cut")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert err.endswith("409: no task is in the band\n")


@pytest.fixture
def dataset(platform: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows: list[dict[str, Any]] = [
        {"prompt": "p", "steps": [], "final_text": "f", "reward": reward} for reward in (1, 0, None)
    ]
    platform.answers("GET", "/datasets/ds_1/download", {"parts": ["/part"]})
    platform.answers("GET", "/part", Answer(body="".join(json.dumps(row) + "\n" for row in rows).encode()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pull_writes_a_file_named_after_the_dataset(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "pull", "ds_1") == (0, "ds_1.jsonl\n", "")
    assert len((dataset / "ds_1.jsonl").read_text().splitlines()) == 3
    assert json.loads(run(capsys, "pull", "ds_1", "other.jsonl", "--json")[1])["path"] == "other.jsonl"


def test_pull_into_a_folder_that_is_not_there_is_an_error(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "pull", "ds_1", str(dataset / "none" / "x.jsonl"))
    assert code == 1
    assert "none" in err


@pytest.mark.parametrize(("words", "count"), [((), 3), (("--passes-only",), 1)])
def test_export_writes_what_a_trainer_loads(
    dataset: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], count: int
) -> None:
    code, out, _ = run(capsys, "export", "ds_1", "sft.jsonl", "--format", "trl", *words)
    assert code == 0
    assert f"{count} rows for trl in sft.jsonl" in out
    rows = [json.loads(line) for line in (dataset / "sft.jsonl").read_text().splitlines()]
    assert [row["prompt_text"] for row in rows] == ["p"] * count


def test_export_reads_a_file_too(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "pull", "ds_1", str(dataset / "rows.jsonl"))
    code, out, _ = run(capsys, "export", "rows.jsonl", "sft.jsonl", "--json")
    assert (code, json.loads(out)["n_written"]) == (0, 3)
    code, _, err = run(capsys, "export", "absent.jsonl", "sft.jsonl")
    assert code == 1
    assert "absent.jsonl" in err


def test_a_misspelt_verb_exits_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["nonsense"])
    assert caught.value.code == 2
    assert "invalid choice" in capsys.readouterr().err


def count_to(subparsers: Any) -> None:
    """A verb as another distribution would add it."""
    parser = subparsers.add_parser("count-to", help="counts")
    parser.add_argument("number", type=int)
    parser.set_defaults(func=lambda args: print(args.number) or args.number)


@pytest.fixture
def added_verbs(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        EntryPoint("count-to", f"{__name__}:count_to", added.GROUP),
        EntryPoint("serve", "a_package_that_is_absent:serve", added.GROUP),
    ]
    monkeypatch.setattr(EntryPoint, "load", lambda entry: count_to if entry.name == "count-to" else absent())
    monkeypatch.setattr(added, "entry_points", lambda group: [entry for entry in entries if entry.group == group])


def absent() -> None:
    raise ModuleNotFoundError("No module named 'a_package_that_is_absent'")


@pytest.mark.usefixtures("added_verbs")
def test_a_verb_of_another_distribution_runs_and_gives_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "count-to", "3") == (3, "3\n", "")


@pytest.mark.usefixtures("added_verbs")
def test_a_verb_that_is_not_installed_says_how_to_install_it(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("serve",), ("serve", "--http-port", "4318")):
        code, out, err = run(capsys, *words)
        assert (code, out) == (1, "")
        assert "pip install 'whileai-platform[server]'" in err


@pytest.mark.usefixtures("added_verbs")
def test_the_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for verb in (
        "login",
        "signup",
        "logout",
        "status",
        "keys",
        "agents",
        "traces",
        "cuts",
        "cut",
        "pull",
        "export",
        "count-to",
        "serve",
    ):
        assert f"\n    {verb} " in out
