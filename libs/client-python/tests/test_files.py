from __future__ import annotations

import base64
import hashlib
import io
import os
import subprocess
import sys
import threading
import time
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from conftest import Client
from server import Connection, Received, Server

from berth import ServiceConnectionError, ServiceNotFoundError


def form(request: Received) -> dict[str, tuple[str | None, bytes]]:
    """The fields of a form: the name of the file, and the content."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    return {
        str(part.get_param("name", header="content-disposition")): (
            part.get_filename(),
            part.get_payload(decode=True),
        )
        for part in message_from_bytes(head + request.body).get_payload()
    }


def test_a_download_has_its_headers_at_once_and_bytes_as_they_come(client: Client, server: Server) -> None:
    def slow(_: Received, connection: Connection) -> None:
        connection.begin(200, {"content-length": "6", "content-type": "text/plain"})
        for piece in (b"abc", b"d\xc3\xa9"):
            time.sleep(0.05)
            connection.send(piece)

    for read, expected in (
        (lambda download: client.run(download.read()), b"abcd\xc3\xa9"),
        (lambda download: client.run(download.text()), "abcdé"),
        (lambda download: b"".join(client.collect(download.iter_bytes())), b"abcd\xc3\xa9"),
    ):
        server.answer(slow)
        download = client.run(client.berth.files.download("a", "/data/x y&z"))
        assert download.headers["Content-Type"] == "text/plain"
        assert read(download) == expected
    assert server.received[0].query == [("path", "/data/x y&z")]
    assert server.received[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("method", ["download", "computers"])
def test_a_short_download_is_a_connection_error_and_leaves_no_file(
    client: Client, server: Server, method: str, tmp_path: Path
) -> None:
    def short(_: Received, connection: Connection) -> None:
        connection.begin(200, {"content-length": "100"})
        connection.send(b"x" * 99)

    berth = client.berth
    begin = berth.files.download if method == "download" else berth.computers.download
    server.answer(short)
    with pytest.raises(ServiceConnectionError):
        client.run(client.run(begin("a", "x")).read())
    target = tmp_path / "file"
    with pytest.raises(ServiceConnectionError):
        client.run(client.run(begin("a", "x")).save(target))
    assert list(tmp_path.iterdir()) == []
    target.write_text("before")
    with pytest.raises(ServiceConnectionError):
        client.run(client.run(begin("a", "x")).save(str(target)))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_saved_file_replaces_the_one_before(client: Client, server: Server, tmp_path: Path) -> None:
    server.answer((200, b"new", {"content-type": "text/plain"}))
    target, link = tmp_path / "file", tmp_path / "link"
    target.write_text("before, and longer")
    link.symlink_to(target)
    client.run(client.run(client.berth.files.download("a", "x")).save(link))
    assert target.read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]
    with pytest.raises(IsADirectoryError):
        client.run(client.run(client.berth.files.download("a", "x")).save(tmp_path))


def test_a_refused_download_is_raised_before_the_first_byte(client: Client, server: Server) -> None:
    server.answer((404, {"detail": {"code": "path_not_found", "message": "No."}}))
    with pytest.raises(ServiceNotFoundError):
        client.run(client.berth.files.download("a", "x"))


def test_leaving_the_block_ends_a_download(client: Client, server: Server) -> None:
    closed = threading.Event()

    def endless(_: Received, connection: Connection) -> None:
        connection.begin(200, {"content-length": "1000000000"})
        try:
            while True:
                connection.send(bytes(65_536))
        except OSError:
            closed.set()

    server.answer(endless)
    download = client.run(client.berth.files.download("a", "x"))
    if client.kind == "sync":
        with download:
            assert len(next(download.iter_bytes())) > 0
    else:

        async def use() -> None:
            async with download:
                assert len(await anext(download.iter_bytes())) > 0

        client.run(use())
    assert closed.wait(10)


def test_bytes_paths_and_files_are_uploaded_under_their_names(
    client: Client, server: Server, tmp_path: Path
) -> None:
    path = tmp_path / 'a "b" é%.txt'
    path.write_bytes(b"path")
    upload = client.berth.files.upload
    client.run(upload("a", b"bytes", name="x.txt", dest_dir="in", message="look"))
    client.run(upload("a", path, dest_dir="/data"))
    client.run(upload("a", memoryview(b"view"), name="v"))
    with path.open("rb") as file:
        file.read(2)
        client.run(upload("a", file))
        assert not file.closed
    client.run(upload("a", io.BytesIO(b"memory"), name="m"))
    forms = [form(request) for request in server.received]
    assert forms[0] == {
        "dest_dir": (None, b"in"),
        "message": (None, b"look"),
        "file": ("x.txt", b"bytes"),
    }
    assert forms[1]["file"][1] == b"path"
    assert 'filename="a \\"b\\" é%.txt"\r\n'.encode() in server.received[1].body
    assert forms[3]["file"][1] == b"th"
    assert forms[4] == {"file": ("m", b"memory")}
    assert all("content-length" in request.headers for request in server.received)


def test_a_pipe_is_uploaded_without_knowing_its_length(client: Client, server: Server) -> None:
    read, write = os.pipe()
    os.write(write, b"piped")
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        client.run(client.berth.files.upload("a", pipe, name="x"))
    assert server.received[0].headers["transfer-encoding"] == "chunked"
    assert form(server.received[0])["file"] == ("x", b"piped")


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("text", {"name": "x"}),
        (b"x", {}),
        (b"x", {"name": ""}),
        (io.BytesIO(b"x"), {}),
        (io.StringIO("x"), {"name": "x"}),
        (None, {"name": "x"}),
        ([b"x"], {"name": "x"}),
        (b"x", {"name": "x", "message": 1}),
        (b"x", {"name": "x", "dest_dir": Path("in")}),
    ],
)
def test_what_is_no_file_or_has_no_name_is_not_sent(
    client: Client, server: Server, file: Any, options: dict[str, Any]
) -> None:
    expected = "pathlib.Path" if isinstance(file, str) else "."
    with pytest.raises(ValueError, match=expected):
        client.run(client.berth.files.upload("a", file, **options))
    with pytest.raises(ValueError, match="could be text or a path"):
        client.run(client.berth.computers.upload("c", "x", "text"))
    with pytest.raises(FileNotFoundError):
        client.run(client.berth.files.upload("a", Path("/nonexistent/file")))
    assert server.received == []


def test_files_of_computers_are_their_bytes_and_repeated_if_they_can_be_read_again(
    client: Client, server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"content")
    lost = (503, {}, {"retry-after": "0"})
    server.answer(lost, {"ok": True})
    client.run(client.berth.computers.upload("c", "/data/x", path))
    assert [request.body for request in server.received] == [b"content"] * 2
    assert server.received[0].query == [("path", "/data/x")]
    assert (server.received[0].method, server.received[0].path) == ("PUT", "/api/v1/computers/c/files")
    read, write = os.pipe()
    os.close(write)
    server.answer(lost)
    with os.fdopen(read, "rb") as pipe, pytest.raises(Exception, match="503"):
        client.run(client.berth.computers.upload("c", "x", pipe))
    assert len(server.received) == 3


def test_a_path_of_bytes_is_sent_as_such(client: Client, server: Server) -> None:
    name = b"\xff\xfe"
    encoded = base64.b64encode(name).decode()
    files = client.berth.files
    for call in (files.mkdir("a", name), files.move("a", name, name), files.write("a", name, "é")):
        client.run(call)
    client.run(files.list("a", name))
    client.run(files.upload("a", b"", name="x", dest_dir=name))
    assert [request.json for request in server.received[:3]] == [
        {"pathBase64": encoded},
        {"fromBase64": encoded, "toBase64": encoded},
        {"pathBase64": encoded, "content": "é"},
    ]
    assert server.received[3].query == [("pathBase64", encoded)]
    assert form(server.received[4])["dest_dir_base64"] == (None, encoded.encode())


LARGE = """
import asyncio, sys
from pathlib import Path
from berth import AsyncBerth, Berth
kind, url, path = sys.argv[1:]
async def use():
    async with AsyncBerth("mk_x", url) as berth:
        await berth.files.upload("a", Path(path))
        await (await berth.files.download("a", "x")).save(path + ".copy")
if kind == "async":
    asyncio.run(use())
else:
    with Berth("mk_x", url) as berth:
        berth.files.upload("a", Path(path))
        berth.files.download("a", "x").save(path + ".copy")
status = Path("/proc/self/status").read_text()
print(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_files_of_100_mb_are_never_held_in_memory(server: Server, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        for number in range(100):
            file.write(bytes([number]) * 1_048_576)
    expected = hashlib.sha256(path.read_bytes()).hexdigest()

    def send(request: Received, connection: Connection) -> Any:
        if request.method == "POST":
            return {"ok": True}
        connection.begin(200, {"content-length": str(path.stat().st_size)})
        connection.send(path.read_bytes())
        return None

    server.answer(send)
    program = [sys.executable, "-c", LARGE, kind, server.url, str(path)]
    used = int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    assert used < 90_000
    copy = Path(f"{path}.copy")
    assert hashlib.sha256(copy.read_bytes()).hexdigest() == expected
