"""Constants of presets as fields of the page: what a tool's files do not name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.formats.tables.mapping import RATER_KINDS, SETTINGS, MappingError, Role, levels_of
from crux_site.imports.form_fields import DUPLICATES_CHOICES, DUPLICATES_LABEL, FormField

LEVELS, DUPLICATES = SETTINGS
_FIELDS = {
    Role.SYSTEM: ("System", "of the answers. Empty: as the file says, or its name"),
    Role.RATER: ("Rater", "who gave the grades. Empty: as the file says"),
    Role.RATER_KIND: ("Kind of rater", ""),
    Role.TOPIC: ("Topic id", "empty: made from its request"),
    Role.REQUEST: ("Topic request", "the question that all texts are about"),
    Role.RUBRIC: (
        "Rubric",
        "of all grades, by its name. Empty: as the file says, or one of its own",
    ),
    LEVELS: ("Grades of a new rubric", "such as 1-5. Only with the name of the rubric"),
    DUPLICATES: (DUPLICATES_LABEL, ""),
    Role.VALUE: ("Metric that is a value, not a grade", "by its name"),
}
_ANSWERS = (Role.SYSTEM, Role.RATER, Role.RATER_KIND, DUPLICATES)
_ANNOTATIONS = (Role.TOPIC, Role.REQUEST, Role.RATER, Role.RUBRIC, DUPLICATES)
_CHOICES = {
    Role.RATER_KIND: (("", "as the tool says"), *((kind, kind) for kind in RATER_KINDS)),
    DUPLICATES: (("", DUPLICATES_CHOICES[0][1]), *DUPLICATES_CHOICES[1:]),
}
_PRESET_CONSTANTS: Mapping[str, tuple[str, ...]] = {
    "crux-long": (Role.RUBRIC, DUPLICATES),
    "deepeval": _ANSWERS,
    "doccano": _ANNOTATIONS,
    "google-forms": (*_ANNOTATIONS, LEVELS),
    "inspect": (*_ANSWERS, Role.VALUE),
    "langfuse": (Role.SYSTEM, Role.RUBRIC, LEVELS, Role.VALUE, DUPLICATES),
    "langsmith": _ANSWERS,
    "open-rag-eval": (Role.SYSTEM, Role.VALUE, DUPLICATES),
    "phoenix": (Role.SYSTEM, Role.RUBRIC, LEVELS, Role.VALUE, DUPLICATES),
    "prodigy": _ANNOTATIONS,
    "promptfoo": _ANSWERS,
    "ragas": _ANSWERS,
    "ragchecker": _ANSWERS,
    "trulens": _ANSWERS,
    "umbrela": (Role.RATER, DUPLICATES),
}
_WITHOUT_TOPIC = ("doccano", "google-forms", "prodigy")


def preset_fields(
    preset: str, values: Mapping[str, Any], errors: Mapping[str, str]
) -> list[FormField]:
    """Return the fields of the constants that concern a preset; `errors` are by their role."""
    fields = []
    for role in _PRESET_CONSTANTS.get(preset, ()):
        label, note = _FIELDS[role]
        choices = _CHOICES.get(role, ())
        value = str(values.get(role, ""))
        fields.append(
            FormField(f"constant-{role}", label, value, choices, note, errors.get(role, ""))
        )
    return fields


def bind_preset(preset: str, data: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the constants of a POST for a preset, and the errors by role."""
    values = {
        str(role): str(data.get(f"constant-{role}", "")).strip()
        for role in _PRESET_CONSTANTS.get(preset, ())
    }
    constants = {role: value for role, value in values.items() if value}
    errors: dict[str, str] = {}
    if preset in _WITHOUT_TOPIC and not {Role.TOPIC, Role.REQUEST} & {*constants}:
        errors[Role.REQUEST] = "Write the question that all texts are about, or the id of a topic."
    if constants.get(Role.RATER_KIND, RATER_KINDS[0]) not in RATER_KINDS:
        errors[Role.RATER_KIND] = f"Choose one of {', '.join(RATER_KINDS)}."
    if constants.get(DUPLICATES, "") not in dict(_CHOICES[DUPLICATES]):
        errors[DUPLICATES] = "Choose one of first, last."
    if levels := constants.get(LEVELS):
        try:
            levels_of(levels)
        except MappingError as error:
            errors[LEVELS] = f"{error}."
        if Role.RUBRIC not in constants:
            errors[Role.RUBRIC] = "Name the rubric that has these grades."
    return constants, errors
