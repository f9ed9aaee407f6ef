"""The part of JSON Schema that our tools use: enough to tell whether a value fits."""

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of(value, kind):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, KINDS[kind])


def misfits(value, schema, where="$"):
    """Sentences about what does not fit."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_of(value, kind) for kind in kinds):
        return [f"{where}: {type(value).__name__} where {kinds} is expected"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is none of {schema['enum']}"]
    found = []
    if isinstance(value, dict):
        found += [f"{where}: {key} is missing" for key in schema.get("required", []) if key not in value]
        properties = schema.get("properties", {})
        for key, inner in value.items():
            if key in properties:
                found += misfits(inner, properties[key], f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{where}: {key} is not expected")
    if isinstance(value, list):
        for i, inner in enumerate(value):
            found += misfits(inner, schema.get("items", {}), f"{where}[{i}]")
        if len(value) > schema.get("maxItems", len(value)) or len(value) < schema.get("minItems", 0):
            found.append(f"{where}: {len(value)} items")
    return found
