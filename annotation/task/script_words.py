"""Translated messages of the item page's scripts. They have no words of their own, so all can be translated.

Names in braces are filled in by the script.
"""

from django.utils.translation import gettext_lazy as _

WORDS = {
    # Where answers are
    "all_saved": _("All saved"),
    "saving": _("Saving…"),
    "sent": _("{n} of {all} sent"),
    "handing_in": _("Handing in…"),
    "saved": _("Saved {time}"),
    "waits": _("Not saved yet, {n} waiting. {problem}"),
    "end_waits": _("Not handed in yet, {n} waiting. {problem}"),
    "undecided": _("Answered in two places: {n} to decide"),
    "refused": _("Not saved. {problem}"),
    "refused_before": _("Not saved: {n}. Answer again where the page says so."),
    "not_handed_in": _("Not handed in; your answers are kept. {problem}"),
    "not_skipped": _("Not skipped; your answers are kept. {problem}"),
    "unreachable": _("The server cannot be reached; sent by itself when it is back."),
    "busy": _("The server is busy; sent by itself in a moment."),
    "logged_out": _(
        "You have been logged out: log in again in another tab, and it is sent from here."
    ),
    "somebody_else": _(
        "Somebody else is logged in here by now: log in as yourself, and it is sent."
    ),
    "answered": _("The server answered {status}."),
    "not_kept": _("This browser does not keep them: do not close or reload this page."),
    # Questions and their state
    "of": _("{n} of {all}"),
    "question": _("Question {number}"),
    "marks_line": _("Question {number} marks this line"),
    "open": _("open"),
    "needs-span": _("needs a span"),
    "answered-state": _("answered"),
    "denial": _("You chose {grade}, which rests on no words. Take away those that you marked?"),
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
    "no_grade": _("no grade"),
    # Other tabs and devices
    "open_twice": _("This page is open in another tab too. What is answered there appears here."),
    "answered_tab": _("Question {number} was answered in another tab: {grade}"),
    "answered_device": _("Question {number} was answered in another place: {grade}"),
    "answered_many_tab": _("Answered in another tab: questions {numbers}"),
    "answered_many_device": _("Answered in another place: questions {numbers}"),
    "now_submitted": _("This was handed in in another place."),
    "now_closed": _(
        "This study was closed. Its page says what becomes of your part, and of your pay."
    ),
    "now_released": _("The time for this ended. What you saved is kept."),
    "reopened": _(
        "A change after handing in has opened this text again. "
        "Submit it once more when you are done."
    ),
    "reopened_other": _("A change after handing in has opened another text again:"),
    "back_to_it": _("back to it"),
    "conflict": _("Question {number} was answered in two places. Choose which answer counts."),
    "conflict_label": _("Two answers to question {number}"),
    "kept_here": _("Question {number}: the answer given here counts."),
    "taken_there": _("Question {number}: the other answer counts."),
    # Time
    "time_left": _("Time left: {time}"),
    "time_over": _("The time is over"),
    "part_ends": _(
        "The time for this part ends in {time}. What you have not begun goes to others then; "
        "what you have begun can still be finished."
    ),
    "part_over": _(
        "The time for this part is over. What you saved is kept. "
        "The page of the study says what becomes of it."
    ),
    "session_ends": _("You will be logged out in {time}."),
    "session_extended": _("You stay logged in."),
    "session_not_extended": _("That did not work. Log in again in another tab, and go on here."),
}

# The same for guests, who have no password to log in with.
GUESTS_WORDS = {
    "logged_out": _(
        "You have been logged out: open the study again from where you came, and it is sent."
    ),
    "somebody_else": _(
        "Somebody else is logged in here by now: open the study again from where you came, "
        "and it is sent."
    ),
    "session_not_extended": _(
        "That did not work. Open the study again from where you came, and go on here."
    ),
}
