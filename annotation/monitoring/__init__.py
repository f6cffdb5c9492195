"""Monitoring of a campaign: progress, participants, staff actions, reconciliation, export."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Campaign",
    help="campaigns#monitoring-a-campaign",
    section="campaigns",
    links=(NavLink(url_name="campaigns", title="Campaigns", scope="site"),),
)
