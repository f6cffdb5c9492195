"""Rows are written after being read under a lock (CONTRIBUTING.md, Transactions)."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.crux_site.unlocked_writes import NO_FIELDS, NO_LOCK, findings, findings_in

ROOT = Path(__file__).resolve().parents[2]
APPS = ("annotation", "building", "crux_site", "evaluation", "judging")

DRAFT = "the draft is locked by its step (`on_draft`), or was made in this transaction"
PARTICIPATION = (
    "its callers hold the campaign, and the parts, as `withdrawal.lock_participant` does"
)
ITEM = "the row is locked, and its newest state read, by `_lock` or `_LOCKED` before"
IMPORT = "an import holds the dataset from its first line to its last"
LOCKED_BY_CALLERS = (
    "its callers hold the dataset and the text or question, as `versions.lock_for_edit` does"
)
DATASET = "it takes the dataset's lock first, by `self.lock` or `Dataset.objects.lock`"
OWN_ROW = "a person's own row, which nobody else writes but to end it"
JUST_MADE = "the row was made a line or two before"

# Where a write breaks the rule by the letter, and why it is sound. Nothing else may.
ALLOWED = {
    "annotation/builder/audiences.py:fit_to_sample": "its caller has just made the draft",
    "annotation/builder/drafts.py:open_campaign": "its callers have just made the campaign",
    "annotation/builder/drafts.py:save_sample": DRAFT,
    "annotation/builder/sampling.py:publish": "it locks the row, and asks for its state, first",
    "annotation/builder/sampling.py:sample": DRAFT,
    "annotation/formats/highlights.py:relocate": IMPORT,
    "annotation/formats/passages.py:_link_documents": IMPORT,
    "annotation/formats/raters.py:_date_pairs": IMPORT,
    "annotation/formats/raters.py:_mark_adjudicator": IMPORT,
    "annotation/formats/storing.py:store_texts": IMPORT,
    "annotation/formats/topics.py:_adopt_passages": IMPORT,
    "annotation/formats/topics.py:_store_filled": IMPORT,
    "annotation/models/links.py:Invitation.revoke": "its callers hold the project",
    "annotation/models/links.py:Invitation.accept": "its caller has read it under the lock",
    "annotation/models/links.py:SharedLink.revoke": "a row that is gone stays gone",
    "annotation/monitoring/actions.py:_forget_sessions": "a session that has gone is gone",
    "annotation/participation/assigning.py:_assign": PARTICIPATION,
    "annotation/participation/assigning.py:_begin_part": "read again under the campaign's lock",
    "annotation/participation/assigning.py:_take_slot": PARTICIPATION,
    "annotation/participation/entry.py:make_links": JUST_MADE,
    "annotation/participation/withdrawal.py:end_participation": PARTICIPATION,
    "annotation/participation/parts.py:finish": PARTICIPATION,
    "annotation/people/forms.py:PersonForm.save": "its view locks the account",
    "annotation/people/views.py:_change": "the form names the fields that it saves",
    "annotation/task/saving.py:_record_rating": ITEM,
    "annotation/task/saving.py:skip": ITEM,
    "annotation/task/saving.py:submit": ITEM,
    "annotation/text/reanchoring.py:set_wording": LOCKED_BY_CALLERS,
    "annotation/text/reanchoring.py:move_citations": LOCKED_BY_CALLERS,
    "annotation/text/reanchoring.py:move_spans": LOCKED_BY_CALLERS,
    "annotation/text/reanchoring.py:restore_ratings": LOCKED_BY_CALLERS,
    "annotation/text/versions.py:set_grades_count": LOCKED_BY_CALLERS,
    "annotation/text/versions.py:anchor_span": LOCKED_BY_CALLERS,
    "annotation/text/edit_undo.py:undo_edit": LOCKED_BY_CALLERS,
    "building/engine/cited_pairs.py:_Maker._new_texts": "the dataset is locked in `__init__`",
    "building/engine/review.py:_decide": "`_locked` has read it",
    "building/engine/storing.py:_settle": "`store` has locked the order",
    "building/engine/writings.py:_take_over": "a query, which reads nothing",
    "building/formats/origins.py:_name_models": IMPORT,
    "building/formats/origins.py:_read_provenance": IMPORT,
    "building/formats/written.py:_Reader._order": IMPORT,
    "crux_site/account/forms.py:OwnPasswordForm.save": OWN_ROW,
    "crux_site/account/views.py:password": OWN_ROW,
    "crux_site/account/views.py:token_revoke": OWN_ROW,
    "crux_site/contents/entities.py:Entity.remove": DATASET,
    "crux_site/contents/entities.py:DatasetEntity.remove": DATASET,
    "crux_site/demo/crowd.py:_work_through": "the demo is made by one command, alone",
    "crux_site/history/import_undo.py:_drop_from_history": DATASET,
    "crux_site/history/origins.py:remove_added": DATASET,
    "crux_site/history/origins.py:_remove_from_versions": DATASET,
    "crux_site/history/import_undo.py:undo": DATASET,
    "crux_site/imports/replacement.py:remove_replaced": IMPORT,
    "crux_site/projects/views.py:_create_project": "the form makes a new project",
    "evaluation/formats/systems.py:read": IMPORT,
    "evaluation/formats/trec_run.py:_Reader._run": IMPORT,
    "evaluation/formats/trec_run.py:_Reader.store": IMPORT,
    "judging/endpoints/forms.py:EndpointForm.save": "its view locks the server",
    "judging/engine/storing.py:_count": JUST_MADE,
}
# Of these, the ones that may also save all fields.
WHOLE_ROWS = {
    "annotation/builder/drafts.py:open_campaign",
    "annotation/builder/sent_forms.py:remember",  # a session
    "annotation/people/views.py:_change",
    "crux_site/account/views.py:password",
    "crux_site/projects/views.py:_create_project",
}


@pytest.fixture(scope="module")
def site_findings():
    return findings_in(ROOT, APPS)


def test_rows_are_written_under_a_lock(site_findings):
    new = [
        str(finding)
        for finding in site_findings
        if finding.location not in (ALLOWED if finding.reason == NO_LOCK else WHOLE_ROWS)
    ]
    assert not new, "\n".join([*new, "See Transactions in CONTRIBUTING.md."])


def test_exceptions_are_still_needed(site_findings):
    assert set(ALLOWED) | WHOLE_ROWS <= {finding.location for finding in site_findings}
    whole_rows = {f.location for f in site_findings if f.reason == NO_FIELDS}
    assert whole_rows == WHOLE_ROWS


BAD = {
    "read in a view, saved later": (
        """
        def pause(request, slug):
            campaign = get_object_or_404(Campaign, slug=slug)
            campaign.state = "paused"
            campaign.save(update_fields=["state"])
        """,
        NO_LOCK,
    ),
    "read outside of the transaction": (
        """
        def pause(slug):
            campaign = Campaign.objects.get(slug=slug)
            with transaction.atomic():
                campaign.save(update_fields=["state"])
        """,
        NO_LOCK,
    ),
    "read outside, locked too late": (
        """
        def pause(slug):
            campaign = Campaign.objects.filter(slug=slug).first()
            with transaction.atomic():
                Campaign.objects.select_for_update().get(slug=slug)
                campaign.save(update_fields=["state"])
        """,
        NO_LOCK,
    ),
    "passed in": (
        """
        @transaction.atomic
        def set_rules(campaign, changed):
            campaign.save(update_fields=changed)
        """,
        NO_LOCK,
    ),
    "its own method": (
        """
        class Link:
            def use(self):
                self.save(update_fields=["used"])
        """,
        NO_LOCK,
    ),
    "a row of a loop": (
        """
        def move(text):
            for span in Span.objects.filter(text=text):
                span.delete()
        """,
        NO_LOCK,
    ),
    "deleted as it was read": (
        """
        def revoke(pk):
            link = get_object_or_404(Link, pk=pk)
            link.delete()
        """,
        NO_LOCK,
    ),
    "many at once": (
        """
        def fill(texts):
            Text.objects.bulk_update(texts, ["body"])
        """,
        NO_LOCK,
    ),
    "all fields": (
        """
        def edit(pk):
            text = Text.objects.select_for_update().get(pk=pk)
            text.body = ""
            text.save()
        """,
        NO_FIELDS,
    ),
    "a form saves all fields": (
        """
        def edit(request, slug):
            form = GuidelineForm(request.POST, instance=rubric)
            form.save()
        """,
        NO_FIELDS,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_unlocked_write_is_found(name):
    source, reason = BAD[name]
    assert [finding.reason for finding in findings(dedent(source), "some.py")] == [reason]


GOOD = {
    "read under a lock": """
        @transaction.atomic
        def pause(campaign):
            campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
            campaign.save(update_fields=["state"])
        """,
    "read after its parent was locked": """
        def end(participant):
            lock_campaign(participant.campaign)
            part = participant.parts.last()
            part.save(update_fields=["ended"])
        """,
    "locked by a POST": """
        @locked_post
        def later(request, slug):
            campaign = get_object_or_404(for_post(request, Campaign.objects.all()), slug=slug)
            campaign.save(update_fields=["closes_at"])
        """,
    "locked by a decorator": """
        @on_draft
        def parts(request, draft):
            draft.save(update_fields=["max_parts"])
        """,
    "made here": """
        def start(dataset):
            run = Run(dataset=dataset)
            run.save()
            part = Part.objects.create(run=run)
            part.save()
        """,
    "stored for the first time": """
        def store(writer):
            writer.save(force_insert=True)
        """,
    "a conditional update": """
        def pause(run):
            Run.objects.filter(pk=run.pk, state="running").update(state="paused")
        """,
    "a query is deleted": """
        def clear(campaign):
            campaign.items.all().delete()
            old = Item.objects.filter(campaign=campaign)
            old.delete()
        """,
    "no row": """
        def keep(path, array):
            np.save(path, array)
        """,
}


@pytest.mark.parametrize("name", GOOD)
def test_sound_write_is_no_finding(name):
    assert not list(findings(dedent(GOOD[name]), "some.py"))
