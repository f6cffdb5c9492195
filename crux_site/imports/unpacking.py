"""Unpack uploaded files and archives into a folder; a bad upload raises UploadError."""

import errno
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotation.errors import UserError
from annotation.formats.summary import quoted_value

_CHUNK = 2**20
_DAMAGE = "is damaged: pack and upload it again"
# Errors of zipfile and its decompressors for damaged data.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError)
_DISK_ERRORS = {
    errno.ENAMETOOLONG: "has a name that is too long to be stored",
    errno.ENOTDIR: "needs a folder where there is a file",
    errno.EEXIST: "needs a name that something else has",
    errno.ENOSPC: "does not fit: the disk of the server is full",
}


class UploadError(UserError):
    """Refused upload; the message is a sentence that names the file."""


def unpack(uploads: Iterable[UploadedFile], folder: Path, *, megabytes: int | None = None) -> None:
    """Write files into the folder under their own names, and archives with all that they hold.

    They may have so many megabytes in all, by default as the settings say.

    Raises UploadError; what was written until then stays, for the caller to remove with the folder.
    """
    quota = _Quota(settings.IMPORT_MAX_MEGABYTES if megabytes is None else megabytes)
    for upload in uploads:
        name = upload.name or ""
        if name.lower().endswith(".zip"):
            _unpack(name, upload, folder, quota)
        else:
            _store(name, PurePosixPath(name).name, upload, folder, quota)


class _Quota:
    """Quota of bytes that may still be written; sizes that an archive states are not trusted."""

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self.left = megabytes * 1_000_000

    def take(self, n: int) -> None:
        self.left -= n
        if self.left < 0:
            raise UploadError(
                f"The files are larger than {self.megabytes} MB when unpacked. "
                "Import them by command, on the server."
            )


def _unpack(name: str, upload: IO[bytes], folder: Path, quota: _Quota) -> None:
    try:
        archive = zipfile.ZipFile(upload)
    except (*_DAMAGED, NotImplementedError, OSError):
        message = f"{quoted_value(name)} cannot be read: it is damaged, or no .zip."
        raise UploadError(message) from None
    with archive:
        if len(archive.infolist()) > settings.IMPORT_MAX_FILES:
            raise UploadError(
                f"{quoted_value(name)} holds more than {settings.IMPORT_MAX_FILES} files. "
                "Import its folder by command, on the server."
            )
        for member in archive.infolist():
            path = member.filename.lstrip("/")
            parts = PurePosixPath(path).parts
            # Two dots are hidden as well: nothing leads out of the folder.
            if not member.filename:
                raise UploadError(f"{quoted_value(name)} holds a file without a name.")
            if not member.is_dir() and not any(p.startswith((".", "__MACOSX")) for p in parts):
                _extract(archive, member, f"{name}: {path}", folder, quota)


def _extract(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, folder: Path, quota: _Quota
) -> None:
    if member.flag_bits & 0x1:
        raise UploadError(f"{quoted_value(name, 120)} is encrypted: pack it without a password.")
    try:
        with archive.open(member) as source:
            _store(name, member.filename.lstrip("/"), source, folder, quota)
    except NotImplementedError:
        message = f"{quoted_value(name, 120)} is compressed in a way that is not read: pack it with deflate."
        raise UploadError(message) from None
    except (*_DAMAGED, OSError):
        raise UploadError(f"{quoted_value(name, 120)} {_DAMAGE}.") from None


def _store(name: str, path: str, source: IO[bytes], folder: Path, quota: _Quota) -> None:
    """Write one file; `name` is its name in messages."""
    target = folder / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while chunk := source.read(_CHUNK):
                quota.take(len(chunk))
                file.write(chunk)
    except OSError as error:
        # Of broken data bzip2 says what else a disk would, without a number.
        reason = _DISK_ERRORS.get(error.errno or 0) or error.strerror or _DAMAGE
        raise UploadError(f"{quoted_value(name, 120)} {reason}.") from None
