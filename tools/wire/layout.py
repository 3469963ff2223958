"""JSON as lines that suit a difference: a short value on one line, a long one split."""

import json
from typing import Any

WIDTH = 110


def laid_out(value: Any, depth: int = 0) -> str:
    """Return JSON in the order of the wire; what fits a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + depth <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner, pad, end = depth + 1, " " * (depth + 1), " " * depth
    if isinstance(value, list):
        rows = [pad + laid_out(one, inner) for one in value]
        return "[\n" + ",\n".join(rows) + f"\n{end}]"
    rows = [
        f"{pad}{json.dumps(key, ensure_ascii=False)}: {laid_out(one, inner)}"
        for key, one in value.items()
    ]
    return "{\n" + ",\n".join(rows) + f"\n{end}}}"


def minified(value: Any) -> str:
    """Return JSON without a blank, as the server writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
