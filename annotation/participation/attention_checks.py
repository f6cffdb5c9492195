"""Failed attention checks: how many are a reason for review. No Django here."""

LONG_STUDY = 5  # minutes, from which on Prolific lets no single failed check count


def min_failed_checks(minutes: int | None) -> int:
    """Return the least number of failed checks that is a reason to review a submission.

    Prolific's rule: two in a study of LONG_STUDY minutes or more, one in a shorter study. The minutes are
    those that the study states; a study that states none is taken to be long.

    Source: Prolific's attention check policy, researcher-help.prolific.com.
    """
    return 1 if minutes is not None and minutes < LONG_STUDY else 2
