"""Paths of files. One that is no text is sent as the bytes that it has on the disk."""

from __future__ import annotations

import base64
from typing import TypeAlias

from ._requests import Maybe
from ._values import OMITTED, text

FilePath: TypeAlias = "str | bytes"
"""A path inside an agent. Bytes name a file whose name is no UTF-8."""


def path_members(path: FilePath, name: str = "path") -> dict[str, object]:
    """Returns the member that says which file: `path`, or `pathBase64` for bytes."""
    if isinstance(path, bytes):
        return {f"{name}Base64": base64.b64encode(path).decode()}
    if not isinstance(path, str) or path == "":
        raise ValueError(f"{name} must be a string or bytes, and not empty.")
    return {name: path}


def path_fields(dest_dir: Maybe[FilePath]) -> dict[str, str]:
    """Returns the field of a form that says where a file goes, if that was given."""
    if dest_dir is OMITTED or dest_dir is None or dest_dir == "":
        return {}
    if isinstance(dest_dir, bytes):
        return {"dest_dir_base64": base64.b64encode(dest_dir).decode()}
    return {"dest_dir": text(dest_dir, "dest_dir")}


def text_fields(message: Maybe[str]) -> dict[str, str]:
    """Returns the field of a form with what to say, if that was given."""
    if message is OMITTED or message is None or message == "":
        return {}
    return {"message": text(message, "message")}
