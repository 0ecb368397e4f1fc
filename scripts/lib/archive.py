"""Writes a reproducible archive: archive.py OUT TIME FILE... (OUT ends with .tar.gz or .zip).

The files are put in a folder with the name of the archive. TIME is the time of all of them, in seconds since 1970.
"""

import gzip
import io
import sys
import tarfile
import time
import zipfile
from pathlib import Path


def mode(path):
    return 0o755 if path.name in ("modegate", "modegate.exe") else 0o644


def write_tar(out, folder, files, stamp):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in files:
            info = tarfile.TarInfo(f"{folder}/{path.name}")
            info.size, info.mtime, info.mode = path.stat().st_size, stamp, mode(path)
            with path.open("rb") as file:
                archive.addfile(info, file)
    with out.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=stamp) as packed:
        packed.write(data.getvalue())


def write_zip(out, folder, files, stamp):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            info = zipfile.ZipInfo(f"{folder}/{path.name}", time.gmtime(stamp)[:6])
            info.external_attr = (0o100000 | mode(path)) << 16
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def main(out, stamp, *names):
    out = Path(out)
    write, end = (write_zip, ".zip") if out.name.endswith(".zip") else (write_tar, ".tar.gz")
    out.parent.mkdir(parents=True, exist_ok=True)
    write(out, out.name[: -len(end)], sorted(map(Path, names), key=lambda path: path.name), int(stamp))


main(*sys.argv[1:])
