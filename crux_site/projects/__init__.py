"""Projects: members, access rules, shared links."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Projects",
    help="admins#projects",
    section="settings",
    links=(
        NavLink(url_name="project", title="Project", scope="project"),
        NavLink(url_name="share", title="Share", order=20, for_owners=True),
    ),
)
