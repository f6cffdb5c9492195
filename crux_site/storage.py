"""Storage of static files."""

from django.contrib.staticfiles.storage import HashedFilesMixin
from whitenoise.storage import CompressedManifestStaticFilesStorage

_EVERY_FILE, _IMPORTS = HashedFilesMixin._js_module_import_aggregation_patterns  # type: ignore[attr-defined]


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Hashed names, in the imports of our JavaScript modules too.

    Otherwise a module would be loaded twice, under its plain and its hashed name, and act twice.
    Other packages' files are left as they are: some name imports that they do not ship.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("js/*.js", _IMPORTS)
