"""Bodies of requests. Files are read in pieces as they are sent."""

from __future__ import annotations

import io
import os
import stat
import uuid
from collections.abc import Generator, Mapping, Sequence
from itertools import islice
from typing import IO, Any, Protocol, TypeAlias
from urllib.parse import quote

from ._values import json_bytes

PIECE = 65_536

File: TypeAlias = "bytes | bytearray | memoryview | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]"
"""What can be uploaded: bytes, the path of a file as `pathlib.Path`, or a file opened in binary mode."""


class _Part(Protocol):
    length: int | None
    repeatable: bool

    def pieces(self) -> Generator[bytes, None, None]: ...

    def close(self) -> None: ...


class _Bytes:
    repeatable = True

    def __init__(self, content: bytes | bytearray | memoryview) -> None:
        self._content = memoryview(content).cast("B")
        self.length: int | None = len(self._content)

    def pieces(self) -> Generator[bytes, None, None]:
        for start in range(0, len(self._content), PIECE):
            yield bytes(self._content[start : start + PIECE])

    def close(self) -> None:
        pass


class _File:
    """A file from where it stands. It is closed at the end if it was opened here."""

    def __init__(self, file: IO[bytes], *, owned: bool) -> None:
        self._file = file
        self._owned = owned
        self._start = _position(file)
        self.repeatable: bool = self._start is not None
        self.length = _length(file, self._start)
        self._begun = False

    def pieces(self) -> Generator[bytes, None, None]:
        if self._begun and self._start is not None:
            self._file.seek(self._start)
        self._begun = True
        left = self.length
        while left is None or left > 0:
            piece = self._file.read(PIECE if left is None else min(PIECE, left))
            if not piece:
                break
            if left is not None:
                left -= len(piece)
            yield piece
        if left:
            raise OSError("The file became shorter while it was uploaded.")

    def close(self) -> None:
        if self._owned:
            self._file.close()


def _position(file: IO[bytes]) -> int | None:
    try:
        return file.tell() if file.seekable() else None
    except (AttributeError, OSError):
        return None


def _length(file: IO[bytes], start: int | None) -> int | None:
    if start is None:
        return None
    try:
        status = os.fstat(file.fileno())
        # Files of /proc and devices have a size of 0 and content.
        if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
            return None
    except (AttributeError, OSError):
        pass
    end = file.seek(0, io.SEEK_END)
    file.seek(start)
    return max(0, end - start)


def _source(file: File) -> _Part:
    if isinstance(file, (bytes, bytearray, memoryview)):
        return _Bytes(file)
    if isinstance(file, os.PathLike):
        return _File(open(file, "rb"), owned=True)
    if isinstance(file, str):
        raise ValueError(
            "A string could be text or a path: pass pathlib.Path(…) or bytes, for example text.encode()."
        )
    if not callable(getattr(file, "read", None)) or isinstance(file, io.TextIOBase):
        raise ValueError("A file must be bytes, a pathlib.Path or a file opened in binary mode.")
    if not isinstance(file.read(0), bytes):
        raise ValueError("The file must be opened in binary mode.")
    return _File(file, owned=False)


def _own_name(file: File) -> str | None:
    name: Any = file if isinstance(file, os.PathLike) else getattr(file, "name", None)
    if not isinstance(name, (str, bytes, os.PathLike)):
        return None
    return os.path.basename(os.fsdecode(name)) or None


class Body:
    """The body of a request, and the headers that describe it."""

    def __init__(self, content_type: str | None, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self.repeatable: bool = all(part.repeatable for part in parts)
        lengths = [part.length for part in parts]
        length = None if None in lengths else sum(one or 0 for one in lengths)
        self.headers: Mapping[str, str] = {
            **({} if content_type is None else {"content-type": content_type}),
            **({} if length is None else {"content-length": str(length)}),
        }

    @property
    def whole(self) -> bytes | None:
        """The body in one piece, if it is short and in memory."""
        if any(isinstance(part, _File) for part in self._parts):
            return None
        pieces = list(islice(self.pieces(), 2))
        return b"".join(pieces) if len(pieces) < 2 else None

    def pieces(self) -> Generator[bytes, None, None]:
        """Yields the body from its beginning."""
        for part in self._parts:
            yield from part.pieces()

    def close(self) -> None:
        """Closes the files that were opened for it."""
        for part in self._parts:
            part.close()


def json_body(value: object) -> Body:
    """A value as JSON."""
    return Body("application/json", [_Bytes(json_bytes(value))])


def raw_body(content: bytes | bytearray | memoryview | str, content_type: str | None = None) -> Body:
    """Bytes as they are, or text as UTF-8."""
    if isinstance(content, str):
        return Body(content_type or "text/plain; charset=utf-8", [_Bytes(content.encode())])
    return Body(content_type or "application/octet-stream", [_Bytes(content)])


def any_body(value: object) -> Body:
    """An object as JSON, text as text, bytes as they are."""
    if isinstance(value, (bytes, bytearray, memoryview, str)):
        return raw_body(value)
    return json_body(value)


def file_body(file: File) -> Body:
    """The bytes of a file."""
    return Body("application/octet-stream", [_source(file)])


def form_body(file: File, name: str | None, fields: Mapping[str, str]) -> Body:
    """A form with a file, which is sent under `name` or its own name, and fields of text before it."""
    if isinstance(file, str):
        _source(file)
    shown = _own_name(file) if name is None else name
    if not isinstance(shown, str) or shown == "":
        raise ValueError("The file has no name: pass name.")
    boundary = f"berth-{uuid.uuid4().hex}"
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    )
    head += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; {_filename(shown)}\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    before, after = head.encode(), f"\r\n--{boundary}--\r\n".encode()
    parts = [_Bytes(before), _source(file), _Bytes(after)]
    return Body(f"multipart/form-data; boundary={boundary}", parts)


def _filename(name: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in name):
        return f"filename*=UTF-8''{quote(name, safe='')}"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'filename="{escaped}"'
