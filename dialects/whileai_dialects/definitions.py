"""The schemas of the tools that a model was offered, in OpenAI's form."""

from whileai_dialects.flatten import trees
from whileai_dialects.jsontext import parse_container, structured
from whileai_dialects.reading import Reading

Tool = dict[str, object]


def definitions_of(reading: Reading) -> list[Tool]:
    """The tools that a span tells, from the first source that tells any."""
    for key in reading.keys("definitions"):
        value: object = trees(reading.attributes, (key,)).get(key) if key.endswith(".") else reading.attributes[key]
        found = _tools(structured(value))
        if found:
            return found
    return []


def _tools(value: object) -> list[Tool]:
    if isinstance(value, dict):
        config = value.get("config")
        for holder in (value, config) if isinstance(config, dict) else (value,):
            for key in ("tools", "function_tools", "function_declarations"):
                listed = holder.get(key)
                if isinstance(listed, list) and listed:
                    return _tools(listed)
        return []
    if not isinstance(value, list):
        return []
    return [tool for item in value for tool in _tool(structured(item))]


def _tool(item: object) -> list[Tool]:
    if not isinstance(item, dict):
        return []
    declared = item.get("function_declarations", item.get("functionDeclarations"))
    if isinstance(declared, list):
        return [tool for inner in declared for tool in _tool(inner)]
    inner = item.get("tool")
    if isinstance(inner, dict):
        schema = structured(inner.get("json_schema"))
        return _tool(schema if isinstance(schema, dict) else inner)
    function = structured(item.get("function"))
    holder = function if isinstance(function, dict) else item
    name = holder.get("name")
    if not isinstance(name, str) or not name:
        return []
    tool: Tool = {"name": name}
    if isinstance(holder.get("description"), str):
        tool["description"] = holder["description"]
    for key in ("parameters", "inputSchema", "input_schema", "parameters_json_schema", "json_schema"):
        schema = holder.get(key)
        parsed = parse_container(schema) if isinstance(schema, str) else schema
        if isinstance(parsed, dict):
            tool["parameters"] = dict(parsed)
            break
    return [{"type": "function", "function": tool}]
