"""The page of documentation that lies beside the rules."""

from __future__ import annotations

from pathlib import Path

import hwtop.symptoms
from hwtop.report.symptoms import page_markdown
from hwtop.symptoms.rules import RULES

PAGE = Path(hwtop.symptoms.__file__).parent / "README.md"


def test_the_page_says_what_the_rules_do() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_markdown(RULES), f"hwtop symptoms --markdown > {PAGE}"
