"""Computers: persistent desktops that a model of the caller drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import types
from .._body import File, file_body
from .._call import Repeat
from .._options import CallOptions
from .._paths import FilePath, path_members
from .._requests import LONG, Maybe, call, route
from .._results import ExecutionResult
from .._values import OMITTED, members
from ._pages import AsyncPages
from ._resource import AsyncResource
from ._streams import AsyncDownload
from .agents import command_members, time_of_command
from .usage import Moment

if TYPE_CHECKING:
    from typing_extensions import Unpack

ACTIONS_SECONDS = 700.0
_ALL = "/api/v1/computers"
_ONE = "/api/v1/computers/{}"


class AsyncComputers(AsyncResource):
    """`berth.computers`. Keys need the scope `computers`."""

    async def create(
        self,
        *,
        external_user_id: Maybe[str] = OMITTED,
        name: Maybe[str] = OMITTED,
        display: Maybe[Mapping[str, int]] = OMITTED,
        idle_ttl_seconds: Maybe[int] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> dict[str, Any]:
        """Creates a computer, or returns the one that the end user has: `POST /api/v1/computers`.

        Args:
            external_user_id: The end user who owns it and has only one; created if unknown.
            name: Need not be unique.
            display: `{"width", "height"}` in pixels, by default 1280 × 800.
            idle_ttl_seconds: Seconds without activity until it sleeps: 0 (always on) or 15 to
                604,800; by default 900.
        """
        json = members(
            external_user_id=external_user_id,
            name=name,
            display=display,
            idle_ttl_seconds=idle_ttl_seconds,
        )
        computer: dict[str, Any] = await self._send("POST", _ALL, options, json=json)
        return computer

    def list(
        self,
        *,
        external_user_id: str | None = None,
        status: Literal["starting", "running", "sleeping", "failed", "deleting"] | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[dict[str, Any]]:
        """Lists computers: `GET /api/v1/computers`.

        Args:
            external_user_id: Only that of this end user.
            status: Only computers of this status.
            cursor: The `next_cursor` of the page before.
            limit: The size of a page, 1 to 200, by default 50.
        """
        return self._list(
            _ALL,
            options,
            externalUserId=external_user_id,
            status=status,
            cursor=cursor,
            limit=limit,
        )

    async def usage(
        self,
        *,
        from_: Moment | None = None,
        to: Moment | None = None,
        external_user_id: str | None = None,
        computer_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> dict[str, Any]:
        """Returns usage and cost of each computer: `GET /api/v1/computers/usage`.

        Args:
            from_: The first day in UTC; the range is by default the last 30 days.
            to: The end.
            external_user_id: Only that of this end user.
            computer_id: Only this computer.
            cursor: The `nextCursor` of the answer before.
            limit: How many rows, 1 to 10,000.

        Returns:
            `{"from", "to", "currency", "rows", "totals", "nextCursor", "asOf"}`
        """
        query = {
            "from": from_,
            "to": to,
            "externalUserId": external_user_id,
            "computerId": computer_id,
            "cursor": cursor,
            "limit": limit,
        }
        report: dict[str, Any] = await self._get(f"{_ALL}/usage", options, **query)
        return report

    async def get(self, computer_id: str, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Returns a computer: `GET /api/v1/computers/{computer_id}`. Wakes nobody."""
        computer: dict[str, Any] = await self._get(route(_ONE, computer_id), options)
        return computer

    async def delete(self, computer_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a computer with its files: `DELETE /api/v1/computers/{computer_id}`."""
        await self._do("DELETE", route(_ONE, computer_id), options)

    async def wake(self, computer_id: str, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Wakes a computer: `POST /api/v1/computers/{computer_id}/wake`.

        Returns it once it is `running`, or after 60 s as it then is.
        """
        path = route(f"{_ONE}/wake", computer_id)
        computer: dict[str, Any] = await self._send("POST", path, options)
        return computer

    async def sleep(self, computer_id: str, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """Puts a computer to sleep: `POST /api/v1/computers/{computer_id}/sleep`.

        Actions under way end, and viewers are closed. Returns it once it is `sleeping`, or after
        60 s as it then is.
        """
        path = route(f"{_ONE}/sleep", computer_id)
        computer: dict[str, Any] = await self._send("POST", path, options)
        return computer

    def sessions(self, computer_id: str, **options: Unpack[CallOptions]) -> AsyncPages[dict[str, Any]]:
        """Lists viewer sessions: `GET /api/v1/computers/{computer_id}/sessions`."""
        return self._list(route(f"{_ONE}/sessions", computer_id), options)

    async def actions(
        self,
        computer_id: str,
        actions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        screenshot: Maybe[bool] = OMITTED,
        scale: Maybe[float] = OMITTED,
        stop_on_error: Maybe[bool] = OMITTED,
        acknowledged_safety_checks: Maybe[Sequence[Any]] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> dict[str, Any]:
        """Moves the mouse, types, and so on: `POST /api/v1/computers/{computer_id}/actions`.

        Without `request_timeout`, the call may take 700 s. It is repeated only after a 429.

        Args:
            computer_id: The computer.
            actions: One action or up to 100, each as a model of OpenAI or Anthropic sends it.
            screenshot: Whether to take a screenshot at the end.
            scale: 0.1 to 1: all pixels are those of a display scaled by it.
            stop_on_error: Whether to skip what follows a failure, by default true.
            acknowledged_safety_checks: Safety checks of OpenAI's model that a person has confirmed.

        Returns:
            `{"results", "failedIndex", "skipped", "cursor", "screenshot", "durationMs"}`
        """
        given = [actions] if isinstance(actions, Mapping) else list_of(actions)
        json = {
            "actions": given,
            **members(screenshot=screenshot, scale=scale, stop_on_error=stop_on_error),
        }
        if acknowledged_safety_checks is not OMITTED:
            json["acknowledged_safety_checks"] = acknowledged_safety_checks
        done: dict[str, Any] = await self._send(
            "POST",
            route(f"{_ONE}/actions", computer_id),
            options,
            json=json,
            repeat=Repeat.BUSY,
            least_timeout=ACTIONS_SECONDS,
        )
        return done

    async def screenshot(
        self,
        computer_id: str,
        *,
        format: Literal["png", "jpeg"] | None = None,
        quality: int | None = None,
        scale: float | None = None,
        **options: Unpack[CallOptions],
    ) -> bytes:
        """Returns an image of the screen: `GET /api/v1/computers/{computer_id}/screenshot`.

        Args:
            computer_id: The computer.
            format: By default `png`.
            quality: Of a JPEG, 1 to 100, by default 80.
            scale: 0.1 to 1.
        """
        sent = call(
            "GET",
            route(f"{_ONE}/screenshot", computer_id),
            options,
            query={"format": format, "quality": quality, "scale": scale},
            headers={"accept": "image/*"},
        )
        return await self._transport.read(sent)

    async def exec(
        self,
        computer_id: str,
        command: str | Sequence[str],
        *,
        timeout: Maybe[float] = OMITTED,
        cwd: Maybe[str] = OMITTED,
        env: Maybe[Mapping[str, str]] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> ExecutionResult:
        """Runs a command as the user of the desktop: `POST /api/v1/computers/{computer_id}/exec`.

        Arguments and answer are those of `agents.exec`.
        """
        execution: ExecutionResult = await self._send(
            "POST",
            route(f"{_ONE}/exec", computer_id),
            options,
            json=command_members(command, timeout, cwd=cwd, env=env),
            repeat=Repeat.NOT_STARTED,
            least_timeout=time_of_command(timeout),
        )
        return execution

    async def download(
        self, computer_id: str, path: FilePath, **options: Unpack[CallOptions]
    ) -> AsyncDownload:
        """Downloads a file: `GET /api/v1/computers/{computer_id}/files`.

        Args:
            computer_id: The computer.
            path: A path in the home folder.
        """
        sent = call(
            "GET",
            route(f"{_ONE}/files", computer_id),
            options,
            query=path_members(path),
            headers={"accept": "*/*", "accept-encoding": "identity"},
        )
        return await AsyncDownload.of(self._transport, sent)

    async def upload(
        self, computer_id: str, path: FilePath, file: File, **options: Unpack[CallOptions]
    ) -> types.UploadedFile:
        """Writes a file of up to 100 MB: `PUT /api/v1/computers/{computer_id}/files`.

        Folders above it are made. The file is read as it is sent; without `request_timeout` that may
        take an hour.

        Args:
            computer_id: The computer.
            path: Where to write it, in the home folder.
            file: Bytes, a `pathlib.Path`, or a file opened in binary mode.

        Returns:
            `{"ok", "path", "name", "size"}`
        """
        uploaded: types.UploadedFile = await self._send(
            "PUT",
            route(f"{_ONE}/files", computer_id),
            options,
            query=path_members(path),
            body=file_body(file),
            least_timeout=LONG,
        )
        return uploaded

    async def list_files(
        self, computer_id: str, path: FilePath | None = None, **options: Unpack[CallOptions]
    ) -> types.FileList:
        """Lists a folder: `GET /api/v1/computers/{computer_id}/files/list`.

        Args:
            computer_id: The computer.
            path: The folder, by default the home folder.
        """
        query = {} if path is None else path_members(path)
        listed: types.FileList = await self._get(route(f"{_ONE}/files/list", computer_id), options, **query)
        return listed

    async def viewer(
        self,
        computer_id: str,
        *,
        mode: Maybe[Literal["view", "control"]] = OMITTED,
        ttl_seconds: Maybe[int] = OMITTED,
        takeover: Maybe[bool] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> dict[str, Any]:
        """Opens a page on which a person sees the screen.

        `POST /api/v1/computers/{computer_id}/viewer`

        Args:
            computer_id: The computer.
            mode: `view`, the default, or `control`: with mouse and keys.
            ttl_seconds: 30 to 3,600, by default 900.
            takeover: With `control`: whether actions are refused while the page is open.

        Returns:
            `{"sessionId", "url", "socketUrl", "mode", "takeover", "expiresAt"}`
        """
        json = members(mode=mode, ttl_seconds=ttl_seconds, takeover=takeover)
        session: dict[str, Any] = await self._send(
            "POST", route(f"{_ONE}/viewer", computer_id), options, json=json
        )
        return session

    async def close_sessions(
        self,
        computer_id: str,
        *,
        session_id: Maybe[str] = OMITTED,
        **options: Unpack[CallOptions],
    ) -> dict[str, Any]:
        """Closes viewer sessions: `POST /api/v1/computers/{computer_id}/sessions/close`.

        Args:
            computer_id: The computer.
            session_id: Only this one, by default all.

        Returns:
            `{"closed"}`, how many.
        """
        closed: dict[str, Any] = await self._send(
            "POST",
            route(f"{_ONE}/sessions/close", computer_id),
            options,
            json=members(session_id=session_id),
        )
        return closed


def list_of(actions: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Checks the actions of a batch."""
    if not isinstance(actions, (list, tuple)):
        raise ValueError("The actions must be an object or a list of objects.")
    return actions
