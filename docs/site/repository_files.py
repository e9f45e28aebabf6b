"""MkDocs hook: pages may link to files beside docs/ ("../ARCHITECTURE.md", "../screenshots/x.png"). Those links work in a
checkout; in the site the files are added at its root and the links follow."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent.parent
_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the project's own pages and the pictures."""
    for path in (*map(ROOT.joinpath, _PAGES), *sorted((ROOT / "screenshots").glob("*.png"))):
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at where the files are in the site. All pages are in one folder, those of the project included."""
    return markdown.replace("](../", "](").replace("](docs/", "](")
