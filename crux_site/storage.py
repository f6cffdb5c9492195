"""Storage of static files."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

from crux_site.script_bundles import bundle

_EVERY_FILE, _IMPORTS = HashedFilesMixin._js_module_import_aggregation_patterns  # type: ignore[attr-defined]
BUNDLED = "js/work.js"  # of the task page, which workers open on slow lines


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Hashed names, also in our JavaScript imports; one script for the task page.

    Otherwise a module would be loaded twice, under its plain and its hashed name, and act twice.
    Other packages' files are left as they are: some name imports that they do not ship.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("js/*.js", _IMPORTS)

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        if BUNDLED in paths and not dry_run:
            self._bundle(paths)
        yield from super().post_process(paths, dry_run, **options)

    def _bundle(self, paths: dict[str, Any]) -> None:
        """Replace the collected script of the task page by its bundle."""

        def read(module: str) -> str:
            storage, path = paths[f"{PurePath(BUNDLED).parent}/{module}.js"]
            with storage.open(path) as file:
                source: str = file.read().decode()
            return source

        script = bundle(PurePath(BUNDLED).stem, read)
        self.delete(BUNDLED)
        self._save(BUNDLED, ContentFile(script.encode()))
        paths[BUNDLED] = (self, BUNDLED)
