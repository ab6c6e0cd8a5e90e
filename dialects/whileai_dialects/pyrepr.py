"""Python reprs of message objects, which some packages write where a message belongs, as the mappings they show.

`ChatMessage(role=<MessageRole.USER: 'user'>, content=[...])` becomes {"role": "user", "content": [...]}. Only literals
and keyword arguments are read; nothing is evaluated.
"""

import ast
import re

# A string literal (kept as it is), an enum member (its value is kept), or any other object (its text is kept).
_PIECE = re.compile(
    r"""(?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
    r"""|<[\w.]+: (?P<member>'[^']*'|"[^"]*"|-?\d+)>"""
    r"""|(?P<object><[^<>'"]*>)"""
)
_HEAD = re.compile(r"^\s*(?:[A-Za-z_][\w.]*\(|[\[{])")
_LIMIT = 200_000

# What classes of content blocks are, in the words of JSON messages.
_TYPES = {
    "TextContent": "text",
    "TextBlock": "text",
    "ResponseOutputText": "output_text",
    "ResponseOutputMessage": "message",
    "ResponseFunctionToolCall": "function_call",
    "ToolCall": "tool_call",
    "ToolCallBlock": "tool_call",
    "ToolCallResult": "tool_result",
    "ReasoningContent": "reasoning",
    "ThinkingBlock": "thinking",
    "ImageContent": "image",
    "ImageBlock": "image",
}


def parse_repr(text: str) -> dict[str, object] | list[object] | None:
    """The mapping or list that a repr shows; None when the text is not one, or was cut off."""
    if len(text) > _LIMIT or not _HEAD.match(text):
        return None
    try:
        tree = ast.parse(_PIECE.sub(_readable, text.strip()), mode="eval")
        value = _value(tree.body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict | list) else None


def _readable(match: re.Match[str]) -> str:
    return match["text"] or match["member"] or repr(match["object"])


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {str(_value(key)): _value(item) for key, item in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _value(node.operand)
        return -number if isinstance(number, int | float) else None
    if isinstance(node, ast.Call):
        return _object(node)
    if isinstance(node, ast.Name | ast.Attribute):
        return ast.unparse(node)
    raise ValueError(ast.dump(node))


def _object(node: ast.Call) -> object:
    name = ast.unparse(node.func).rpartition(".")[2]
    fields = {pair.arg.lstrip("_"): _value(pair.value) for pair in node.keywords if pair.arg}
    if name in _TYPES:
        fields["type"] = _TYPES[name]
    if not fields and len(node.args) == 1:
        return _value(node.args[0])  # OrderedDict([...]), deque([...])
    return fields
