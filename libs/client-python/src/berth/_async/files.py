"""Files of agents, and their environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import types
from .._body import File, form_body
from .._call import Repeat
from .._options import CallOptions
from .._paths import FilePath, path_fields, path_members, text_fields
from .._requests import LONG, Maybe, call, route
from .._values import OMITTED, members
from ._pages import AsyncPages
from ._resource import AsyncResource
from ._streams import AsyncDownload

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncFiles(AsyncResource):
    """`berth.files`. All methods wake a sleeping agent.

    Paths are relative to the volume of the agent, or absolute in it. A path given as bytes names a
    file whose name is no UTF-8.
    """

    async def list(
        self, agent_id: str, path: FilePath | None = None, **options: Unpack[CallOptions]
    ) -> types.FileList:
        """Lists a folder: `GET /api/agents/{agent_id}/files/list`.

        Args:
            agent_id: The agent.
            path: The folder, by default the whole volume.

        Returns:
            `{"path", "root", "entries"}`, entries `{"name", "isDir", "size", "mtime"}` by name;
            sizes are bytes, `mtime` are Unix seconds.
        """
        query = {} if path is None else path_members(path)
        listed: types.FileList = await self._get(
            route("/api/agents/{}/files/list", agent_id), options, **query
        )
        return listed

    async def download(self, agent_id: str, path: FilePath, **options: Unpack[CallOptions]) -> AsyncDownload:
        """Downloads a file of up to 100 MB: `GET /api/agents/{agent_id}/files/download`.

        Returns once the headers are there. `request_timeout` bounds the wait for them, and then each
        silence.

        Args:
            agent_id: The agent.
            path: Any absolute path inside the agent, or one relative to the volume.

        Raises:
            ServiceNotFoundError: There is no such file.
        """
        sent = call(
            "GET",
            route("/api/agents/{}/files/download", agent_id),
            options,
            query=path_members(path),
            headers={"accept": "*/*", "accept-encoding": "identity"},
        )
        return await AsyncDownload.of(self._transport, sent)

    async def upload(
        self,
        agent_id: str,
        file: File,
        *,
        dest_dir: Maybe[FilePath] = OMITTED,
        message: Maybe[str] = OMITTED,
        name: str | None = None,
        **options: Unpack[CallOptions],
    ) -> types.UploadedFile:
        """Uploads a file of up to 100 MB: `POST /api/agents/{agent_id}/files/upload`.

        The file is read as it is sent. Without `request_timeout` that may take an hour. The call is
        not repeated.

        Args:
            agent_id: The agent.
            file: Bytes, a `pathlib.Path`, or a file opened in binary mode, which is read from where it
                stands.
            dest_dir: The folder of the volume to put it into. Without it the file is delivered to
                the inbox of the agent, which is told about it.
            message: What to tell the agent with the file.
            name: The name of the file, by default its own.

        Returns:
            `{"ok", "path", "name", "size"}`
        """
        fields = {**path_fields(dest_dir), **text_fields(message)}
        uploaded: types.UploadedFile = await self._send(
            "POST",
            route("/api/agents/{}/files/upload", agent_id),
            options,
            body=form_body(file, name, fields),
            repeat=Repeat.NEVER,
            least_timeout=LONG,
        )
        return uploaded

    async def write(
        self, agent_id: str, path: FilePath, content: str, **options: Unpack[CallOptions]
    ) -> types.WrittenFile:
        """Writes text to a file, all of it or nothing: `PUT /api/agents/{agent_id}/files/write`.

        Folders above it are made. Without `request_timeout` this may take an hour.

        Args:
            agent_id: The agent.
            path: The file.
            content: Up to 100 MB as UTF-8.
        """
        if not isinstance(content, str):
            raise ValueError("The content must be a string; bytes can be uploaded.")
        written: types.WrittenFile = await self._send(
            "PUT",
            route("/api/agents/{}/files/write", agent_id),
            options,
            json={**path_members(path), "content": content},
            least_timeout=LONG,
        )
        return written

    async def mkdir(self, agent_id: str, path: FilePath, **options: Unpack[CallOptions]) -> types.ChangedPath:
        """Makes a folder, and those above it: `POST /api/agents/{agent_id}/files/mkdir`."""
        made: types.ChangedPath = await self._send(
            "POST",
            route("/api/agents/{}/files/mkdir", agent_id),
            options,
            json=path_members(path),
        )
        return made

    async def move(
        self, agent_id: str, from_: FilePath, to: FilePath, **options: Unpack[CallOptions]
    ) -> types.MovedPath:
        """Moves a file or folder: `POST /api/agents/{agent_id}/files/move`.

        Raises:
            ServiceConflictError: Something is at `to`.
            ServiceNotFoundError: Nothing is at `from_`.
        """
        moved: types.MovedPath = await self._send(
            "POST",
            route("/api/agents/{}/files/move", agent_id),
            options,
            json={**path_members(from_, "from"), **path_members(to, "to")},
        )
        return moved

    async def delete(
        self, agent_id: str, path: FilePath, **options: Unpack[CallOptions]
    ) -> types.ChangedPath:
        """Deletes a file, or a folder with all in it: `DELETE /api/agents/{agent_id}/files/delete`.

        Raises:
            ServiceNotFoundError: Nothing is at `path`.
        """
        deleted: types.ChangedPath = await self._send(
            "DELETE",
            route("/api/agents/{}/files/delete", agent_id),
            options,
            query=path_members(path),
            done={"ok": True, "path": path},
        )
        return deleted


class AsyncEnv(AsyncResource):
    """`berth.env`: the environment variables of agents. A program sees changes after `reload`."""

    def list(self, agent_id: str, **options: Unpack[CallOptions]) -> AsyncPages[types.EnvVar]:
        """Lists variables, secret values as `********`: `GET /api/agents/{agent_id}/env`."""
        return self._list(route("/api/agents/{}/env", agent_id), options)

    async def set(
        self,
        agent_id: str,
        key: str,
        value: str,
        *,
        secret: Maybe[bool] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> types.EnvVar:
        """Sets a variable: `PUT /api/agents/{agent_id}/env/{key}`.

        Args:
            agent_id: The agent.
            key: Letters, digits and `_`; not beginning with `BERTH_`.
            value: At most 32,768 characters.
            secret: Whether to encrypt it and show it to nobody. Left out, a variable stays what it is.
        """
        variable: types.EnvVar = await self._send(
            "PUT",
            route("/api/agents/{}/env/{}", agent_id, key),
            options,
            json={"value": value, **members(secret=secret)},
        )
        return variable

    async def delete(self, agent_id: str, key: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a variable: `DELETE /api/agents/{agent_id}/env/{key}`."""
        await self._do("DELETE", route("/api/agents/{}/env/{}", agent_id, key), options)

    async def reload(self, agent_id: str, **options: Unpack[CallOptions]) -> types.Agent:
        """Gives its variables to the running program: `POST /api/agents/{agent_id}/env/reload`."""
        agent: types.Agent = await self._send("POST", route("/api/agents/{}/env/reload", agent_id), options)
        return agent
