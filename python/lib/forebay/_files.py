"""Text files."""

from __future__ import annotations

import os
from typing import Any, Tuple

from ._errors import refused

#: Far above any file of settings.
_MOST = 16 << 20


def read_text(path: Any) -> Tuple[str, str]:
    """The name of a file, and its text."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise refused("path", f"a {type(path).__name__} is not a path", "give the name of a file") from None
    if not isinstance(name, str):
        name = os.fsdecode(name)
    try:
        with open(name, "rb") as file:
            data = file.read(_MOST + 1)
    except (OSError, ValueError) as error:
        problem = f"cannot read it: {getattr(error, 'strerror', None) or error}"
        raise _of_file(name, problem, "check the path and its permissions") from None
    if len(data) > _MOST:
        raise _of_file(name, f"more than {_MOST} bytes are too many for a file of settings", "is this the right file?")
    try:
        return name, data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _of_file(name, f"line {line} is not UTF-8 text", "save the file as UTF-8") from None


def _of_file(name: str, problem: str, remedy: str) -> Exception:
    error = refused(name, problem, remedy)
    error.file, error.key = name, None
    return error
