"""Uploaded files, archives unpacked, in a folder: all of them, or a sentence that says why not."""

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

from annotation.formats.summary import shown

_CHUNK = 2**20
_DAMAGE = "is damaged: pack and upload it again"
# What zipfile and its decompressors raise for what they cannot read.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError)
_OF_THE_DISK = {
    errno.ENAMETOOLONG: "has a name that is too long to be stored",
    errno.ENOTDIR: "needs a folder where there is a file",
    errno.EEXIST: "needs a name that something else has",
    errno.ENOSPC: "does not fit: the disk of the server is full",
}


class UploadRefused(Exception):
    """Why an upload cannot be taken in, as a sentence that names the file."""


def unpack(uploads: Iterable[UploadedFile], folder: Path) -> None:
    """Write files into the folder under their own names, and archives with all that they hold.

    Raises UploadRefused; what was written until then stays, for the caller to remove with the folder.
    """
    room = _Room()
    for upload in uploads:
        name = upload.name or ""
        if name.lower().endswith(".zip"):
            _unpack(name, upload, folder, room)
        else:
            _store(name, PurePosixPath(name).name, upload, folder, room)


class _Room:
    """How much may still be written. What an archive says of its own size is not believed."""

    def __init__(self) -> None:
        self.left = settings.IMPORT_MAX_MEGABYTES * 1_000_000

    def take(self, n: int) -> None:
        self.left -= n
        if self.left < 0:
            raise UploadRefused(
                f"The files are larger than {settings.IMPORT_MAX_MEGABYTES} MB when unpacked. "
                "Import them by command, on the server."
            )


def _unpack(name: str, upload: IO[bytes], folder: Path, room: _Room) -> None:
    try:
        archive = zipfile.ZipFile(upload)
    except (*_DAMAGED, NotImplementedError, OSError):
        message = f"{shown(name)} cannot be read: it is damaged, or no .zip."
        raise UploadRefused(message) from None
    with archive:
        if len(archive.infolist()) > settings.IMPORT_MAX_FILES:
            raise UploadRefused(
                f"{shown(name)} holds more than {settings.IMPORT_MAX_FILES} files. "
                "Import its folder by command, on the server."
            )
        for member in archive.infolist():
            place = member.filename.lstrip("/")
            parts = PurePosixPath(place).parts
            # Two dots are hidden as well: nothing leads out of the folder.
            if not member.filename:
                raise UploadRefused(f"{shown(name)} holds a file without a name.")
            if not member.is_dir() and not any(p.startswith((".", "__MACOSX")) for p in parts):
                _extract(archive, member, f"{name}: {place}", folder, room)


def _extract(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, folder: Path, room: _Room
) -> None:
    if member.flag_bits & 0x1:
        raise UploadRefused(f"{shown(name, 120)} is encrypted: pack it without a password.")
    try:
        with archive.open(member) as source:
            _store(name, member.filename.lstrip("/"), source, folder, room)
    except NotImplementedError:
        message = (
            f"{shown(name, 120)} is compressed in a way that is not read: pack it with deflate."
        )
        raise UploadRefused(message) from None
    except (*_DAMAGED, OSError):
        raise UploadRefused(f"{shown(name, 120)} {_DAMAGE}.") from None


def _store(name: str, place: str, source: IO[bytes], folder: Path, room: _Room) -> None:
    """Write one file; `name` is what people are told that it is called."""
    target = folder / place
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while chunk := source.read(_CHUNK):
                room.take(len(chunk))
                file.write(chunk)
    except OSError as error:
        # Of broken data bzip2 says what else a disk would, without a number.
        reason = _OF_THE_DISK.get(error.errno or 0) or error.strerror or _DAMAGE
        raise UploadRefused(f"{shown(name, 120)} {reason}.") from None
