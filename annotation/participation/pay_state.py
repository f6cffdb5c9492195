"""State of pay of a person from Prolific, by part, from the newest loaded list."""

from annotation.models import Campaign, Part, Participant


def pay_states(participant: Participant) -> list[Part]:
    """Return the parts whose pay the person waits for; empty where Prolific pays nothing.

    These are the finished parts, and others that a list of Prolific has as ended.
    """
    prolific = Campaign.Platform.PROLIFIC.value
    if participant.campaign.platform != prolific or participant.source != prolific:
        return []
    unlisted = ("", Part.Submission.ACTIVE)
    return [
        part
        for part in participant.parts.all()
        if part.outcome == Part.Outcome.DONE or part.submission not in unlisted
    ]
