"""A site of the CRUX workbench as pandas frames: datasets, ratings, agreement and scores, read by a token."""

from crux_client.connection import SiteError
from crux_client.site import Dataset, Site

__all__ = ["Dataset", "Site", "SiteError"]
