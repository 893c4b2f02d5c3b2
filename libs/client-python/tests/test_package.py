"""The package as it is published, and its types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from berth import __version__

pytestmark = pytest.mark.tools
LIBRARY = Path(__file__).parents[1]


def run(*arguments: str, **environment: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=LIBRARY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    run("build", "--no-isolation", "--outdir", str(folder))
    return folder


def test_the_wheel_has_types_the_readme_and_the_licence_and_needs_httpx_alone(built: Path) -> None:
    with zipfile.ZipFile(built / f"berth_client-{__version__}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        dist = f"berth_client-{__version__}.dist-info"
        metadata = message_from_string(wheel.read(f"{dist}/METADATA").decode())
    assert {"berth/py.typed", "berth/types.py", "berth/_sync/client.py"} <= names
    assert f"{dist}/licenses/LICENSE" in names
    assert (metadata["Name"], metadata["Version"]) == ("berth-client", __version__)
    requirements = metadata.get_all("Requires-Dist") or []
    assert [re.split(r"[<>=]", one)[0] for one in requirements] == ["httpx"]
    assert metadata["Requires-Python"] == ">=3.10"
    assert "# berth-client" in str(metadata.get_payload())
    assert not [name for name in names if not name.startswith(("berth/", dist))]


def test_the_source_distribution_can_be_built_and_tested(built: Path) -> None:
    with tarfile.open(built / f"berth_client-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "src/berth/py.typed"} <= names
    assert "tests/test_errors.py" in names


def test_the_wheel_works_where_it_is_installed(built: Path, tmp_path: Path) -> None:
    wheel = built / f"berth_client-{__version__}-py3-none-any.whl"
    run("pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path), str(wheel))
    program = "import berth; print(berth.__version__, berth.__file__, berth.Berth('mk_x').agents)"
    packages = os.environ["PYTHONPATH"].split(os.pathsep)[1:]
    path = os.pathsep.join([str(tmp_path), *packages])
    commands = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = {**os.environ, "PYTHONPATH": path, "PATH": commands}

    def shown(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    assert shown("-c", program).startswith(f"{__version__} {tmp_path}")
    types = shown("-m", "pyright", "--verifytypes", "berth", "--ignoreexternal")
    assert "Type completeness score: 100%" in types, types


def test_mypy_and_pyright_find_nothing(tmp_path: Path) -> None:
    run("mypy", "--strict", "--cache-dir", str(tmp_path))
    run("pyright")
    run("ruff", "check", ".")
    run("ruff", "format", "--check", ".")


USE = """
from berth import AsyncBerth, Berth, types


def names(berth: Berth) -> list[str]:
    agent: types.Agent = berth.agents.get("a")
    exit_code: int = berth.agents.exec("a", "ls")["exitCode"]
    accepted: types.AcceptedExecution = berth.agents.exec("a", "ls", detached=True, request_timeout=5)
    page = berth.agents.list(state="running")
    row: types.UsageRow = berth.usage.total(from_="2026-01-01")["rows"][0]
    print(agent, exit_code, accepted["executionId"], row["aiCents"], page.next_cursor)
    return [one["name"] for one in page]


async def names_later(berth: AsyncBerth) -> list[str]:
    page = await berth.agents.list()
    first: types.Agent = page.items[0]
    download = await berth.files.download("a", "x")
    print(first["idleTtlSeconds"], len(await download.read()))
    return [one["name"] async for one in berth.agents.list()]
"""
MISUSE = """
from berth import Berth

Berth("mk_x").agents.create(name="a")
Berth("mk_x").agents.get("a", request_timeout="5")
Berth("mk_x").agents.get("a")["nmae"]
Berth("mk_x").agents.list(stat="running")
"""


def test_programs_that_use_it_are_typed(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "misuse.py").write_text(MISUSE)
    source = str(LIBRARY / "src")
    cache = str(tmp_path / "cache")
    checked = ["mypy", "--strict", "--config-file=", "--cache-dir", cache]
    run(*checked, str(tmp_path / "use.py"), MYPYPATH=source)
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{source}"], "strict": ["use.py"]}}')
    run("pyright", "--project", str(tmp_path), str(tmp_path / "use.py"))
    refused = subprocess.run(
        [sys.executable, "-m", *checked, str(tmp_path / "misuse.py")],
        env={**os.environ, "MYPYPATH": source},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert len(re.findall(r"misuse\.py:\d+: error", refused)) == 4
