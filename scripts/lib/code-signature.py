"""Checks the signature of a macOS program: code-signature.py FILE.

Apple silicon runs no program without one. The linker signs ad hoc: with a SHA-256 hash of each page, and no certificate.
"""

import hashlib
import struct
import sys

SIGNATURE_COMMAND, SIGNATURE, DIRECTORY = 0x1D, 0xFADE0CC0, 0xFADE0C02


def signature_offset(program):
    """Where the signature is, or None."""
    magic, count = struct.unpack_from("<I12xI", program)
    if magic != 0xFEEDFACF:
        sys.exit("not a 64-bit Mach-O program")
    offset = 32
    for _ in range(count):
        command, size, value = struct.unpack_from("<3I", program, offset)
        if command == SIGNATURE_COMMAND:
            return value
        offset += size
    return None


def check(program):
    start = signature_offset(program)
    if start is None:
        sys.exit("the program is not signed")
    magic, _, count = struct.unpack_from(">3I", program, start)
    blobs = [start + struct.unpack_from(">4xI", program, start + 12 + 8 * blob)[0] for blob in range(count)]
    at = next((at for at in blobs if struct.unpack_from(">I", program, at) == (DIRECTORY,)), None)
    if magic != SIGNATURE or at is None:
        sys.exit("the signature cannot be read")
    hashes, _, _, pages, limit, size, _, _, page = struct.unpack_from(">16x5I4B", program, at)
    for number in range(pages):
        content = program[number << page : min((number + 1) << page, limit)]
        signed = program[at + hashes + number * size :][:size]
        if hashlib.sha256(content).digest()[:size] != signed:
            sys.exit(f"page {number} differs from the signature")
    print(f"{pages} signed pages")


check(open(sys.argv[1], "rb").read())
