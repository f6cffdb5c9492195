"""Translated messages of the item page's scripts.

The scripts have no messages of their own, so all can be translated. Names in braces are filled in by the
script.
"""

from django.utils.translation import gettext_lazy as _

MESSAGES = {
    # Where answers are
    "all_saved": _("All saved"),
    "saving": _("Saving…"),
    "sent": _("{n} of {all} sent"),
    "handing_in": _("Submitting…"),
    "saved": _("Saved {time}"),
    "waits": _("Not saved yet, {n} waiting. {problem}"),
    "end_waits": _("Not submitted yet, {n} waiting. {problem}"),
    "undecided": _("Answered twice: {n}. Choose one answer."),
    "refused": _("Not saved. {problem}"),
    "refused_before": _("Not saved: {n}. Answer again where the page says so."),
    "not_handed_in": _("Not submitted; your answers are kept. {problem}"),
    "not_skipped": _("Not skipped; your answers are kept. {problem}"),
    "unreachable": _("The server cannot be reached. We retry automatically."),
    "busy": _("The server is busy. Your answers are sent in a moment."),
    "logged_out": _("You were logged out. Log in again in another tab, then it is sent from here."),
    "somebody_else": _("Somebody else is logged in here. Log in as yourself, then it is sent."),
    "answered": _("The server answered {status}."),
    "not_kept": _("This browser does not keep them: do not close or reload this page."),
    # Questions and their state
    "of": _("{n} of {all}"),
    "question": _("Question {number}"),
    "marks_line": _("Question {number} marks this line"),
    "open": _("open"),
    "needs-span": _("needs a span"),
    "answered-state": _("answered"),
    "contradicts": _("does not fit another answer"),
    "contradiction": _(
        "You chose “{first}” and “{second}”. They cannot both be right. Check both answers."
    ),
    "both_right": _("If both are right, write why in the note of one of them."),
    "check_question": _("Check question {number}"),
    "denial": _("Grade {grade} needs no marked words. Remove your marks?"),
    "regrade": _("Question {number} has grade {grade} and needs a span. Change it to {next}?"),
    "answered_now": _("Question {number}: {grade}"),
    "large": _("You selected {n} words. Mark all of them?"),
    "altered": _(
        "Your browser translates this page, or an extension changes its words. "
        "Turn it off for this site, then reload."
    ),
    "takes_no_words": _("Question {number} takes no marked words."),
    "remove_span": _("Remove this span of question {number}: {quote}"),
    "missing_one": _("Before you can submit, one question is left:"),
    "missing": _("Before you can submit, {n} questions are left:"),
    "nothing_to_undo": _("Nothing to undo"),
    "nothing_to_redo": _("Nothing to redo"),
    "no_grade": _("no grade"),
    # Keys
    "key_twice": _("The key {key} is there twice."),
    "key_of_grade": _("The key {key} gives a grade. Choose another one."),
    "key_missing": _("Each action needs a key."),
    # Other tabs and devices
    "open_twice": _("This page is open in another tab too. What is answered there appears here."),
    "answered_tab": _("Question {number} was answered in another tab: {grade}"),
    "answered_device": _("Question {number} was answered in another place: {grade}"),
    "answered_many_tab": _("Answered in another tab: questions {numbers}"),
    "answered_many_device": _("Answered in another place: questions {numbers}"),
    "now_submitted": _("You submitted this in another tab or browser."),
    "now_closed": _("This study was closed. Its page says what happens to your part and your pay."),
    "now_released": _("This text is no longer yours. What you saved is kept."),
    "reopened": _(
        "You changed this text after you submitted it. Submit it again when you are done."
    ),
    "reopened_other": _("You changed another text after you submitted it:"),
    "back_to_it": _("back to it"),
    "conflict": _("Question {number} was answered in two places. Choose which answer counts."),
    "conflict_label": _("Two answers to question {number}"),
    "kept_here": _("Question {number}: the answer given here counts."),
    "taken_there": _("Question {number}: the other answer counts."),
    # Time
    "time_left": _("Time left: {time}"),
    "time_over": _("The time is over"),
    "part_ends": _(
        "The time for this part ends in {time}. Then other people get the texts that you did not start. "
        "You can still finish the texts that you started."
    ),
    "part_over": _(
        "The time for this part is over. Your saved answers are kept. "
        "The page of the study says what happens to them."
    ),
    "session_ends": _("You will be logged out in {time}."),
    "session_extended": _("You stay logged in."),
    "session_not_extended": _(
        "That did not work. Log in again in another tab, then continue here."
    ),
}

# The same for guests, who have no password to log in with.
GUEST_MESSAGES = {
    "logged_out": _(
        "You were logged out. Open the study again from where you came, then it is sent."
    ),
    "somebody_else": _(
        "Somebody else is logged in here. Open the study again from where you came, then it is sent."
    ),
    "session_not_extended": _(
        "That did not work. Open the study again from where you came, then continue here."
    ),
}
