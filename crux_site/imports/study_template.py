"""Template study.xlsx: a small study to fill in, a sheet for each kind of row."""

from __future__ import annotations

import io

from annotation.formats.tables.mapping import TEXT_KINDS

NAME = "study.xlsx"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_WIDTH, _WIDE = 16, 60
_LAST_ROW = 5_000  # with a list of choices
_SHEETS: dict[str, list[tuple[str | int, ...]]] = {
    "Topics": [
        ("topic_id", "request"),
        ("mill-1", "How does the mill at Tarrow work?"),
        ("ferry-1", "Who runs the ferry at Holmsay?"),
    ],
    "Questions": [
        ("topic_id", "sub_question"),
        ("mill-1", "What drives the wheel?"),
        ("mill-1", "What does it grind?"),
        ("ferry-1", "Who owns the ferry?"),
    ],
    "Texts": [
        ("topic_id", "text_id", "kind", "system", "text"),
        ("mill-1", "d1", "passage", "", "The stream behind the mill drives its wheel."),
        ("mill-1", "d2", "passage", "", "The miller sells flour on Saturdays."),
        ("ferry-1", "d3", "passage", "", "The ferry belongs to the harbour board."),
        ("mill-1", "r1", "report", "bot-1", "The stream drives the wheel. It grinds wheat."),
    ],
    "Ratings": [
        ("topic_id", "sub_question", "text_id", "kind", "system", "rater", "rubric", "grade"),
        ("mill-1", "What drives the wheel?", "d1", "passage", "", "anna", "graded", 5),
        ("mill-1", "What drives the wheel?", "d2", "passage", "", "anna", "graded", 0),
        ("mill-1", "What does it grind?", "d2", "passage", "", "ben", "graded", 3),
        ("ferry-1", "Who owns the ferry?", "d3", "passage", "", "anna", "graded", 5),
        ("mill-1", "What does it grind?", "r1", "report", "bot-1", "anna", "graded", 4),
    ],
}
_LONG_TEXTS = ("request", "sub_question", "text")


def study_workbook() -> bytes:
    """Return the workbook: headers in bold, a list of the kinds of texts, and example rows."""
    import openpyxl  # noqa: PLC0415 - takes 0.2 s to import
    from openpyxl.styles import Font  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415

    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in _SHEETS.items():
        worksheet = book.create_sheet(title)
        for row in rows:
            worksheet.append([None if cell == "" else cell for cell in row])
        worksheet.freeze_panes = "A2"
        for number, header in enumerate(rows[0], 1):
            letter = get_column_letter(number)
            worksheet.cell(1, number).font = Font(bold=True)
            worksheet.column_dimensions[letter].width = _WIDE if header in _LONG_TEXTS else _WIDTH
            if header == "kind":
                kinds = DataValidation(type="list", formula1=f'"{",".join(TEXT_KINDS)}"')
                kinds.add(f"{letter}2:{letter}{_LAST_ROW}")
                worksheet.add_data_validation(kinds)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()
