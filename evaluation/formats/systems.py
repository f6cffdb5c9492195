"""systems.jsonl: {"system", "settings": {name: value}}, how systems were set."""

from collections.abc import Iterator

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import SystemRow
from annotation.formats.reports import SYSTEM
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset
from evaluation.models import System


def read(target: Target, source: Source) -> None:
    """Make the systems that are new, and add the settings that others lack. None is changed."""
    summary = target.summary.file(source.name)
    systems = {system.name: system for system in System.objects.filter(dataset=target.dataset)}
    new: list[System] = []
    added: dict[str, System] = {}
    for line, row in rows(target, source, SystemRow):
        existing = systems.get(row.system)
        if not SYSTEM.fullmatch(row.system):
            message = (
                f"{quoted_value(row.system)} is no name of a system: letters, digits and . _ + -"
            )
            target.problem(source, line, "system", message)
        elif existing is None:
            settings = dict(row.settings)
            systems[row.system] = System(dataset=target.dataset, name=row.system, settings=settings)
            new.append(systems[row.system])
        elif unlike := _unlike(existing, row):
            message = f"is there already as {quoted_value(existing.settings[unlike])}"
            target.problem(source, line, f"settings.{unlike}", message)
        elif row.settings.keys() <= existing.settings.keys():
            summary.unchanged += 1
        else:
            existing.settings |= row.settings
            if existing.pk:
                added[existing.name] = existing
    System.objects.bulk_create(new)
    System.objects.bulk_update(added.values(), ["settings"])
    summary.created += len(new)
    summary.filled += len(added)
    target.summary.created["systems with settings"] += len(new)


def _unlike(system: System, row: SystemRow) -> str | None:
    """Return a setting that the system has with another value or type: 1 is not true."""
    stored = system.settings
    return next(
        (
            name
            for name, value in row.settings.items()
            if name in stored and (type(stored[name]), stored[name]) != (type(value), value)
        ),
        None,
    )


def lines(dataset: Dataset) -> Iterator[str]:
    """The systems by name, their settings by name."""
    systems = System.objects.filter(dataset=dataset).order_by(by_code_point("name"))
    for system in systems:
        settings = dict(sorted(system.settings.items()))
        yield json_line({"system": system.name, "settings": settings})
