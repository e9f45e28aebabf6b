"""Documentation is up to date with the code, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.cli import COMMANDS
from tests.docs.user_texts import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "skills" / "hwtop" / "SKILL.md"]
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_EXTERNAL = ("http://", "https://", "mailto:")
_SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"^hwtop ([a-z]+)(?:\s|$)", re.MULTILINE)
_INLINE = re.compile(r"`hwtop ([a-z]+)[ `]")
README_LINES = 160


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {*map(slug, headings), *re.findall(r'<a id="([^"]+)">', text)}


def slug(heading: str) -> str:
    """As GitHub and MkDocs make it of plain headings."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip())


def broken(page: Path) -> Iterator[str]:
    """Links to files or headings that are not there."""
    for link in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(_EXTERNAL):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def test_generated_pages_are_up_to_date() -> None:
    script = str(ROOT / "docs" / "generate.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n[a](page.md#one-heading) [b](page.md#other) [c](none.md) [d](https://none.invalid)\n"
    )
    assert list(broken(page)) == ["page.md#other", "none.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_examples_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = _LINE.findall("".join(_SHELL.findall(text)))
    assert {*lines, *_INLINE.findall(text)} <= COMMANDS.keys()


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES
