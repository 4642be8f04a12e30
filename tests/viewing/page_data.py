"""What a page holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def data_of(page: Path) -> Any:
    """Its data, with lines in the place of their numbers."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    data = json.loads(found[1])
    for part in (*data["stages"], *data["steps"]):
        part["lines"] = [data["lines"][number] for number in part["lines"]]
    return data
