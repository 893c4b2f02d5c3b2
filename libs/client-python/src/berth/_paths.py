"""Paths of files. One that is no text is sent as the bytes that it has on the disk."""

from __future__ import annotations

import base64
from typing import TypeAlias

FilePath: TypeAlias = "str | bytes"
"""A path inside an agent. Bytes name a file whose name is no UTF-8."""


def path_members(path: FilePath, name: str = "path") -> dict[str, object]:
    """Returns the member that says which file: `path`, or `pathBase64` for bytes."""
    if isinstance(path, bytes):
        return {f"{name}Base64": base64.b64encode(path).decode()}
    if not isinstance(path, str) or path == "":
        raise ValueError(f"{name} must be a string or bytes, and not empty.")
    return {name: path}
