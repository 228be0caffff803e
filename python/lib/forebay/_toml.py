"""Python values as TOML."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, Optional

from ._errors import refused

#: Deeper is a mistake, such as a dictionary that holds itself.
_DEEPEST = 32
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


def key(name: Any, where: str) -> str:
    """A key of a table."""
    if not isinstance(name, str):
        raise refused(where, f"the key {name!r} is not a text", "write keys as texts")
    return name if _BARE.match(name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def literal(value: Any, where: str, depth: int = 0) -> str:
    """A value on one line. `where` is what errors call it."""
    if depth > _DEEPEST:
        raise refused(where, f"this is nested more than {_DEEPEST} deep", "does it hold itself?")
    if hasattr(value, "item") and hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if not isinstance(text, str) or _is_broken(text):
            raise refused(where, f"{text!r} is not UTF-8 text", "give a text")
        return _text(text)
    if isinstance(value, Mapping):
        pairs = (f"{key(name, where)} = {literal(item, f'{where}.{name}', depth + 1)}" for name, item in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(literal(item, f"{where}.{at}", depth + 1) for at, item in enumerate(value)) + "]"
    if value is None:
        raise refused(where, "None is not a setting", "leave the key out to have its default")
    remedy = "give a number, a text, True or False, a list or a dictionary"
    raise refused(where, f"a {type(value).__name__} is not a setting", remedy)


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def document(data: Mapping[str, Any]) -> str:
    """A dictionary as a TOML file, with tables where it has dictionaries."""
    lines: list[str] = []
    _table(data, [], [], lines)
    return "\n".join(lines) + "\n"


def _table(data: Mapping[str, Any], path: list[str], names: list[str], lines: list[str]) -> None:
    if len(path) > _DEEPEST:
        raise refused(".".join(names[:3]), f"this is nested more than {_DEEPEST} deep", "does it hold itself?")
    tables = []
    for name, value in data.items():
        where = ".".join([*names, str(name)])
        if isinstance(value, Mapping):
            tables.append((name, [value], "[{}]"))
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, Mapping) for item in value):
            tables.append((name, list(value), "[[{}]]"))
        else:
            lines.append(f"{key(name, where)} = {literal(value, where)}")
    for name, items, form in tables:
        inner = [*path, key(name, ".".join(names) or "the dictionary")]
        for item in items:
            lines.extend(["", form.format(".".join(inner))])
            _table(item, inner, [*names, str(name)], lines)


def settings(mapping: Optional[Mapping[str, Any]], keywords: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Overrides as pairs of a dotted key and a value."""
    if mapping is not None and not isinstance(mapping, Mapping):
        remedy = 'write {"policy.kind": "abm"}, or give keywords'
        raise refused("overrides", f"a {type(mapping).__name__} is not a dictionary", remedy)
    pairs = []
    for name, value in [*(mapping or {}).items(), *keywords.items()]:
        if not isinstance(name, str) or _is_broken(name):
            raise refused("overrides", f"the key {name!r} is not a text", 'write keys such as "policy.alpha"')
        pairs.append((name, literal(value, name)))
    return pairs
