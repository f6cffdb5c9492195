"""Files of a campaign's export: tables and provenance, as a folder or an archive."""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annotation.db_version import snapshot
from annotation.formats.writing import ExportError, zip_entry
from annotation.models import Campaign
from annotation.models.corpus import digest
from annotation.monitoring.export_tables import PRIVATE, PRIVATE_ROWS, TABLES, Cells, Names
from annotation.program_version import program_versions

_CHUNK = 2**16


def files(campaign: Campaign, *, anonymous: bool) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the names of the files with their lines, to be read one after the other.

    The last one has the provenance, with the rows and the SHA-256 of each of the others.
    Answers that are given while an export runs are in none of its tables.
    """
    names = Names(campaign, anonymous)
    file_info: dict[str, dict[str, Any]] = {}
    for name, (table, columns) in TABLES.items():
        exported_columns = [column for column in columns if not (anonymous and column in PRIVATE)]
        yield name, _lines(table(names), exported_columns, file_info.setdefault(name, {}))
    yield "provenance.json", iter([_provenance(names, file_info)])


def _lines(rows: Iterable[Cells], columns: list[str], info: dict[str, Any]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, extrasaction="ignore")
    writer.writeheader()
    sha256 = hashlib.sha256()
    info["rows"] = 0
    for row in rows:
        writer.writerow(row)
        info["rows"] += 1
        if buffer.tell() > _CHUNK:
            yield _flush_buffer(buffer, sha256)
    yield _flush_buffer(buffer, sha256)
    info["sha256"] = sha256.hexdigest()


def _flush_buffer(buffer: io.StringIO, sha256: Any) -> bytes:
    data = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    sha256.update(data)
    return data


def _provenance(names: Names, file_info: dict[str, dict[str, Any]]) -> bytes:
    campaign = names.campaign
    provenance = {
        "campaign": campaign.slug,
        "title": campaign.title,
        "dataset": campaign.dataset.slug,
        "rubric": campaign.rubric.slug,
        "further_rubrics": [rubric.slug for rubric in campaign.further_rubrics.all()],
        "state": campaign.state,
        "is_pilot": campaign.is_pilot,
        "seed": campaign.seed,
        "selection": campaign.selection,
        "questions_per_item": campaign.questions_per_item,
        "copies_equal_texts": campaign.copies_equal_texts,
        "gold_feedback": campaign.gold_feedback,
        "feedback": campaign.feedback,
        "raters_per_item": campaign.raters_per_item,
        "items_per_part": campaign.items_per_part,
        "repeat_percent": campaign.repeat_percent,
        "repeat_after": campaign.repeat_after,
        "pay_per_part": None if campaign.pay_per_part is None else str(campaign.pay_per_part),
        "platform_fee": None if campaign.platform_fee is None else str(campaign.platform_fee),
        "currency": campaign.currency,
        "opened": names.moment(campaign.opened_at),
        "guideline_sha256": digest(campaign.guideline),
        "consent_version": campaign.consent_version,
        "consent_sha256": digest(campaign.consent),
        "language": campaign.language,
        "words_frozen": bool(campaign.wording) and not campaign.is_draft,
        "program_at_opening": campaign.wording.get("program"),
        "program_at_export": program_versions(campaign.language),
        "anonymous": names.anonymous,
        "left_out": [*PRIVATE.values(), *PRIVATE_ROWS] if names.anonymous else [],
        "times": "UTC, days" if names.anonymous else "UTC",
        "offsets": "Unicode code points, end exclusive",
        "files": file_info,
    }
    return (json.dumps(provenance, ensure_ascii=False, indent=2) + "\n").encode()


def archive(campaign: Campaign, *, anonymous: bool) -> Iterator[bytes]:
    """Stream the export as one .zip. The same database gives the same bytes."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as zipped:  # type: ignore[call-overload]
        for name, lines in files(campaign, anonymous=anonymous):
            with zipped.open(zip_entry(f"{campaign.slug}/{name}"), "w", force_zip64=True) as file:
                for line in lines:
                    file.write(line)
                    yield sink.drain()
    yield sink.drain()


class _Sink:
    """Write-only file for streaming: its buffer is read and cleared."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def drain(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def write_archive(campaign: Campaign, out: Path, *, anonymous: bool) -> None:
    """Write the export as a .zip. Raises ExportError if the file exists."""
    if out.exists():
        raise ExportError(f"{out} is there already")
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f"{out.name}.part")  # so that nobody takes half a file for a whole one
    try:
        with part.open("wb") as file, snapshot():
            file.writelines(archive(campaign, anonymous=anonymous))
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)


def write_folder(campaign: Campaign, out: Path, *, anonymous: bool) -> None:
    """Write the export as a folder of files. Raises ExportError if the folder is not empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"{out} is there already and not an empty folder")
    out.mkdir(parents=True, exist_ok=True)
    with snapshot():
        for name, lines in files(campaign, anonymous=anonymous):
            with (out / name).open("wb") as file:
                file.writelines(lines)
