"""Writes the synchronous client, `src/berth/_sync`, from the asynchronous one, `src/berth/_async`.

`--check` writes nothing and fails if a file is out of date. `_io.py` and `_pages.py` are written by
hand on both sides.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "berth"
BY_HAND = frozenset(("_io.py", "_pages.py"))
REPLACEMENTS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\basync (def|with|for)\b", r"\1"),
        (r"\bawait ", ""),
        (r"\bAsync(?=Client\b)", ""),
        (r"\bAsyncGenerator\b", "Generator"),
        (r"\bGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
        (r"\bAsyncPages?\b", "Page"),
        (r"\b(_?)Async(?=[A-Z])", r"\1"),
        (r"\basync_client\b", "client"),
        (r"\b__a(iter|next|enter|exit)__\b", r"__\1__"),
        (r"\baclosing\b", "closing"),
        (r"\baclose\b", "close"),
        (r"\baiter_bytes\b", "iter_bytes"),
        (r"\bapublish_schedules\b", "publish_schedules"),
        (r"\basyncio\.sleep\b", "time.sleep"),
    )
)


def synchronous(text: str, name: str) -> str:
    """Returns the synchronous form of a module."""
    for pattern, replacement in REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return f"# Generated from _async/{name} by scripts/generate_sync.py: change that file.\n{text}"


def main() -> int:
    stale: list[str] = []
    for module in sorted((SOURCE / "_async").glob("*.py")):
        if module.name in BY_HAND:
            continue
        target = SOURCE / "_sync" / module.name
        text = synchronous(module.read_text(encoding="utf-8"), module.name)
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(module.name)
        if "--check" not in sys.argv:
            target.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"Out of date: _sync/{', _sync/'.join(stale)}. Run scripts/generate_sync.py.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
