"""Files of datasets in a folder and in a bucket: there whole or not at all, and gone when they are deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.bucket import Bucket, bucket

from whileai_query import Objects

# More than one part of a multipart upload.
LARGE = b"row " * (3 << 20)


@pytest.fixture(scope="session")
def s3() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture(params=["folder", "bucket"])
def objects(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Objects:
    if request.param == "folder":
        return Objects(f"file://{tmp_path}/objects")
    s3: Bucket = request.getfixturevalue("s3")
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return Objects(f"{s3.url}/{tmp_path.name}")


def test_what_was_written_reads_the_same(objects: Objects) -> None:
    for key, content in (("acc/ds_1/rows.jsonl", LARGE), ("acc/ds_2/rows.jsonl", b"")):
        with objects.writing(key) as file:
            file.write(content)
        assert b"".join(objects.read(key)) == content
        assert objects.size(key) == len(content)
    assert sorted(objects.list_keys()) == ["acc/ds_1/rows.jsonl", "acc/ds_2/rows.jsonl"]


def break_off(objects: Objects, key: str, size: int) -> None:
    with objects.writing(key) as file:
        file.write(LARGE[:size])
        raise ConnectionError


@pytest.mark.parametrize("size", [10, len(LARGE)])
def test_a_file_that_breaks_off_was_never_there(objects: Objects, s3: Bucket, size: int) -> None:
    with pytest.raises(ConnectionError):
        break_off(objects, "acc/ds_1/rows.jsonl", size)
    with pytest.raises(FileNotFoundError):
        objects.read("acc/ds_1/rows.jsonl")
    assert objects.list_keys() == []
    assert s3.unfinished() == 0


def test_a_file_is_not_there_before_it_is_whole(objects: Objects) -> None:
    with objects.writing("acc/ds_1/rows.jsonl") as file:
        file.write(LARGE)
        with pytest.raises(FileNotFoundError):
            objects.read("acc/ds_1/rows.jsonl")
    assert objects.size("acc/ds_1/rows.jsonl") == len(LARGE)


def test_deleting_is_for_good_and_may_be_repeated(objects: Objects) -> None:
    with objects.writing("acc/ds_1/rows.jsonl") as file:
        file.write(b"row")
    for _ in range(2):
        objects.delete("acc/ds_1/rows.jsonl")
    with pytest.raises(FileNotFoundError):
        objects.read("acc/ds_1/rows.jsonl")
    assert objects.list_keys() == []


@pytest.mark.parametrize("key", ["../escape", "/etc/passwd", "a//b", "a/../b", "", "a/.hidden", "a\\b", "a\nb"])
def test_a_key_that_is_none_of_ours_is_no_path(objects: Objects, key: str) -> None:
    with pytest.raises(ValueError, match="no key of ours"), objects.writing(key):
        pass


def test_only_a_folder_knows_how_much_room_is_left(objects: Objects) -> None:
    room = objects.free_bytes()
    assert (room is None) == (objects.local_path("acc/x") is None)
    assert room is None or room > 0
