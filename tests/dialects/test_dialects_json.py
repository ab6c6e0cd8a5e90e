"""JSON texts are read alike with the fast parser and without it."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_dialects import encode_value
from whileai_dialects.jsontext import is_exact, parse_exactly, parse_json, parse_raw_container

TEXTS = {
    "integers beyond 64 bits": '[18446744073709551616, -9223372036854775809, {"n": [123456789012345678901234567890]}]',
    "an integer of 5,000 digits": "[" + "7" * 5000 + "]",
    "the largest integers": "[18446744073709551615, -9223372036854775808, -0]",
    "floats": "[0.1, 1e5, -0.0, 1e-400, 1e19, 0.12345678901234567890123]",
    "a float beyond the largest": '{"n": 1e999}',
    "numbers that JSON has not": "[NaN, Infinity]",
    "a lone surrogate": '["\\ud83d"]',
    "a pair of surrogates": '["\\ud83d\\ude00"]',
    "a key told twice": '{"a": 1, "b": 2, "a": 3}',
    "a control character": '["\x1f"]',
    "a null character": '["\\u0000"]',
    "space around": "\n [1]\t ",
    "a no-break space behind": "[1]\u00a0",
    "a byte order mark": "\ufeff[1]",
    "more behind": "[1] [2]",
    "nothing": "",
    "null": "null",
    "a word": "word",
    "a trailing comma": "[1,]",
    "too deep": "[" * 100_000,
    "quite deep": "[" * 1100 + "]" * 1100,
}


def told(value: object) -> str:
    return repr(value)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_means_the_same_to_both_parsers(text: str) -> None:
    assert told(parse_json(text)) == told(parse_exactly(text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_written_value_is_read_back_alike_by_both(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert told(parse_json(text)) == told(parse_exactly(text))


@given(st.text(alphabet=string.punctuation + string.digits + "eE truefalsn\\u"))
@settings(max_examples=300, deadline=None)
def test_a_text_of_signs_is_read_alike_by_both(text: str) -> None:
    assert told(parse_json(text)) == told(parse_exactly(text))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_container_read_from_its_bytes_is_the_one_in_the_text(text: str) -> None:
    found = parse_raw_container(encode_value(text))
    assert found is None or not is_exact(found) or told(found) == told(parse_json(text))


def test_without_the_fast_parser_the_same_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whileai_dialects.jsontext.orjson", None)
    assert parse_raw_container(encode_value("[1]")) is None
    assert parse_json('{"n": [1, 2.5]}') == {"n": [1, 2.5]}
