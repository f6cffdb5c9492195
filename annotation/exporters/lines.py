"""One JSON object a line."""

import json
from typing import Any


def json_line(value: dict[str, Any]) -> str:
    """Letters stay letters: a file is read by people too."""
    return json.dumps(value, ensure_ascii=False) + "\n"
