"""Message catalogue of a language, as gettext writes it."""

import ast
import re

from django.conf import settings


def catalogue(language):
    """Return all messages of a .po file.

    Of each its English (one form or two), its translations, and its flags.
    """
    po = settings.LOCALE_PATHS[0] / language / "LC_MESSAGES" / "django.po"
    messages = []
    for block in po.read_text(encoding="utf-8").split("\n\n")[1:]:
        fields: dict[str, str] = {}
        for line in block.splitlines():
            if not line.startswith("#"):
                name, quoted = re.fullmatch(r'(\S*?) ?(".*")', line).groups()
                name = name or list(fields)[-1]
                fields[name] = fields.get(name, "") + ast.literal_eval(quoted)
        english = [text for name, text in fields.items() if name.startswith("msgid")]
        means = [text for name, text in fields.items() if name.startswith("msgstr")]
        messages.append((english, means, " ".join(re.findall("^#[,~].*", block, re.MULTILINE))))
    return messages
