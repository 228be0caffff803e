"""Errors that the package itself finds."""

from __future__ import annotations

from ._forebay import Error


def refused(key: str, problem: str, remedy: str) -> Error:
    """An error like those of the extension module."""
    error = Error(f"{key}: {problem}\n  help: {remedy}")
    error.file, error.line, error.key, error.problem, error.remedy = None, None, key, problem, remedy
    return error
