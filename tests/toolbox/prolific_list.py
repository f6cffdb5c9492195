"""Prolific's list of the submissions of a study, as it is downloaded there."""

HEAD = (
    "Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,"
    "Reviewed at,Archived at,Time taken,Completion code,Total approvals,Fluent languages,Age"
)


def export(*rows: tuple[str, str, str, str]) -> bytes:
    lines = [
        f"{pk},{person},{status},Not Applicable,2026-03-02T12:27:09.179000Z,2026-03-02T12:46:18Z,"
        f',,1150,{code},389,"Czech, English",25'
        for pk, person, status, code in rows
    ]
    return "\r\n".join([HEAD, *lines, ""]).encode()
