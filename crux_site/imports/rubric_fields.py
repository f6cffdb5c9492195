"""New rubrics of a mapping: fields for their scales, and the binding of a POST."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.tables.mapping import MappingError, levels_of
from crux_site.imports.form_fields import FormField

ORDERS = (("nominal", "no order"), ("ordinal", "ordered by these numbers"))


@dataclass
class RubricFields:
    slug: str
    ranges: FormField | None
    custom: FormField | None
    level_fields: list[FormField]
    scale: FormField | None
    eta: FormField


def bind_rubric(
    slug: str, rubric: dict[str, Any], data: Mapping[str, Any], errors: dict[str, str]
) -> None:
    """Set the scale and eta of a new rubric by a POST; add errors by the field's name."""
    key = f"rubric-{slug}"
    if data.get(f"{key}-scale") in dict(ORDERS):
        rubric["scale"] = data[f"{key}-scale"]
    custom = str(data.get(f"{key}-custom", "")).strip()
    name = f"{key}-custom" if custom else f"{key}-levels"
    text = custom or str(data.get(name, ""))
    if text and text != _levels_value(rubric):
        try:
            rubric["levels"] = levels_of(text)
        except MappingError as error:
            errors[name] = f"{error}."
    if isinstance(rubric["levels"], dict):
        _bind_words(slug, rubric, data, errors)
    if f"{key}-eta" in data:
        rubric.pop("eta", None)
        eta = str(data[f"{key}-eta"])
        if eta.isdecimal() and len(eta) < 5 and int(eta) in _grades(rubric):
            rubric["eta"] = int(eta)
        elif eta:
            errors[f"{key}-eta"] = "This is no grade of the scale. Choose another."
    if rubric.get("scale") == "nominal" and rubric.pop("eta", None) is not None:
        errors[f"{key}-eta"] = "Grades without an order have no threshold."


def _bind_words(
    slug: str, rubric: dict[str, Any], data: Mapping[str, Any], errors: dict[str, str]
) -> None:
    levels = dict(rubric["levels"])
    for number, label in enumerate(levels):
        name = f"rubric-{slug}-word{number}"
        text = str(data.get(name, levels[label])).strip()
        if text.isdecimal() and len(text) < 4:
            levels[label] = int(text)
        else:
            errors[name] = "Write a whole number."
    rubric["levels"] = levels


def rubric_fields(
    slug: str,
    rubric: Mapping[str, Any],
    proposed_ranges: Sequence[str],
    data: Mapping[str, Any],
    errors: Mapping[str, str],
) -> RubricFields:
    """Return the fields of a new rubric; `proposed_ranges` are scales that its values propose."""
    key, levels = f"rubric-{slug}", rubric["levels"]
    ranges, custom, scale, level_fields = None, None, None, []
    numbers = {*_grades(rubric)}
    if isinstance(levels, dict):
        level_fields = [
            FormField(
                f"{key}-word{number}",
                label,
                str(data.get(f"{key}-word{number}", grade)),
                error=errors.get(f"{key}-word{number}", ""),
                is_number=True,
            )
            for number, (label, grade) in enumerate(levels.items())
        ]
        scale = FormField(f"{key}-scale", "Order", str(rubric.get("scale", "ordinal")), ORDERS)
    else:
        value = levels_text(levels)
        ranges = FormField(
            f"{key}-levels",
            "Scale",
            value,
            [(text, _range_label(text)) for text in dict.fromkeys([value, *proposed_ranges])],
            error=errors.get(f"{key}-levels", ""),
        )
        custom = FormField(
            f"{key}-custom",
            "Another scale",
            str(data.get(f"{key}-custom", "")),
            note="such as 1-7",
            error=errors.get(f"{key}-custom", ""),
        )
        numbers.update(*(_numbers_of(text) for text in proposed_ranges))
    eta = FormField(
        f"{key}-eta",
        "Counts as answered from grade",
        str(rubric.get("eta", "") if rubric.get("eta") is not None else ""),
        [("", "nothing says so"), *((str(n), str(n)) for n in sorted(numbers)[1:])],
        error=errors.get(f"{key}-eta", ""),
    )
    return RubricFields(slug, ranges, custom, level_fields, scale, eta)


def levels_text(levels: Sequence[int]) -> str:
    """Return levels as `levels_of` parses them: "1-5" or "0,1,3"."""
    numbers = sorted(levels)
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))


def _levels_value(rubric: Mapping[str, Any]) -> str:
    levels = rubric["levels"]
    return "" if isinstance(levels, dict) else levels_text(levels)


def _range_label(text: str) -> str:
    low, sign, high = text.partition("-")
    return f"{low} to {high}" if sign else text


def _grades(rubric: Mapping[str, Any]) -> list[int]:
    levels = rubric["levels"]
    return sorted({*(levels.values() if isinstance(levels, dict) else levels)})


def _numbers_of(text: str) -> set[int]:
    levels = levels_of(text)
    return {*levels.values()} if isinstance(levels, dict) else {*levels}
