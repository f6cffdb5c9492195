"""Pages of judge runs: plan, progress, actions."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Judge runs",
    help="judging#judge-runs",
    section="judges",
    links=(NavLink(url_name="judge_runs", scope="site", order=10),),
)
