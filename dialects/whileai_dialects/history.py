"""What is new in a call's input, found on the raw bytes.

Each call of a long run tells the whole history again as one JSON list. When a list begins with all of the list before
it, only the rest is parsed, so that the cost of a run follows what was said and not its square.
"""

from whileai_dialects.calls import ModelCall
from whileai_dialects.jsontext import parse_json
from whileai_dialects.reading import Reading
from whileai_dialects.shapes import read_messages
from whileai_dialects.value import string_start

# Sources that tell the history as one JSON list of messages.
_LISTS = ("gen_ai.input.messages", "ai.prompt.messages")


class History:
    """The input that was read last in one conversation."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told = b""

    def resume(self, call: ModelCall) -> bool:
        """Give the call's reading only what is new in its input; False when it does not go on from the last one."""
        reading, raw, start = _told(call)
        before, self._told = self._told, raw[start:-1] if raw[-1:] == b"]" else b""
        if reading is None or len(before) < 2 or not raw.startswith(before, start):
            return False
        rest = raw[start + len(before) :].lstrip()
        if rest == b"]":
            return len(call.readings) == 1 and _give(reading, [])
        if rest[:1] != b",":
            return False
        value = parse_json("[" + rest[1:].decode("utf-8", "replace"))
        return isinstance(value, list) and _give(reading, value)


def _give(reading: Reading, value: list[object]) -> bool:
    reading.said = read_messages(value)
    return True


def _told(call: ModelCall) -> tuple[Reading | None, bytes, int]:
    """The first reading whose input is such a list, its bytes, and where the list begins in them."""
    for reading in call.readings:
        keys = reading.found.get("said", ("",))
        if keys[0] in _LISTS:
            raw = reading.attributes.raw[keys[0]]
            start = string_start(raw)
            if start and raw[start : start + 1] == b"[":
                return reading, raw, start
    return None, b"", 0
