"""Read-only client of a CRUX workbench site: API lists as pandas frames."""

from crux_client.connection import SiteError
from crux_client.site import Dataset, Site

__all__ = ["Dataset", "Site", "SiteError"]
