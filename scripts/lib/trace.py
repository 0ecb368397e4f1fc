#!/usr/bin/env python3
"""Runs a program under valgrind and lists the addresses below 4 GB that it reads, writes or executes, in order of first use.

    trace.py FOLDER PROGRAM [ARGUMENT…]    writes the list to a file in FOLDER; standard input and output are the program's
"""

import os
import subprocess
import sys
import tempfile

folder, program = sys.argv[1], sys.argv[2:]
trace, log = os.pipe()
valgrind = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", f"--log-fd={log}"]
process = subprocess.Popen([*valgrind, *program], pass_fds=(log,))
os.close(log)
addresses = {}
with os.fdopen(trace, "rb") as lines:
    # An access looks like ` L 00337a10,8`: the kind in three characters, the address in at least eight digits, the size.
    for line in lines:
        address, comma = line[3:11], line[11:12]
        if comma == b"," and address not in addresses:
            addresses[address] = None
with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
    file.write(b"\n".join(addresses))
sys.exit(process.wait())
