"""Import of what a preview page shows, as its button does it."""

import re


def import_previewed(client, url, **data):
    """Post the form of a preview page, with the digest of the preview that it shows."""
    match = re.search(r'name="digest" value="([0-9a-f]+)"', client.get(url).content.decode())
    return client.post(url, {"digest": match[1] if match else ""} | data)
