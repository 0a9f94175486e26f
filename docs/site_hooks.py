"""Takes the pages at the top of the repository into the site, and checks and rewrites links that leave `docs/`.

MkDocs reads `docs/` alone. On GitHub the pages link to each other, to README.md and to sources by their paths. In the
site a link to a page becomes a link to that page of the site, a link to another file becomes its address on GitHub.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
# Path in the repository -> path in the site.
TOP_PAGES = {"README.md": "index.md", "migration_guide.md": "guide/index.md", "CHANGELOG.md": "changelog.md"}
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the top of the repository."""
    for source, target in TOP_PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page, but not its code."""
    parts, end = [], 0
    for code in _CODE.finditer(markdown):
        parts += [_rewritten(markdown[end : code.start()], page.file.src_uri, config.extra["repository"]), code[0]]
        end = code.end()
    return "".join([*parts, _rewritten(markdown[end:], page.file.src_uri, config.extra["repository"])])


def _rewritten(text: str, here: str, repository: str) -> str:
    sources = {target: source for source, target in TOP_PAGES.items()}
    folder = posixpath.dirname(sources.get(here, f"docs/{here}"))

    def link(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        if not (ROOT / path).exists():
            raise PluginError(f"{here}: the link {match[1]} leads nowhere")
        if path in TOP_PAGES or path.startswith("docs/"):
            target = TOP_PAGES.get(path, path.removeprefix("docs/"))
            return f"]({posixpath.relpath(target, posixpath.dirname(here) or '.')}{match[2] or ''})"
        return f"]({repository.rstrip('/')}/blob/main/{path}{match[2] or ''})"

    return _LINK.sub(link, text)
