"""Prints the functions in callgrind's profiles, one per event: those that most events call come first."""

import collections
import pathlib
import re
import sys

FUNCTION = re.compile(r"^c?fn=\(\d+\) ([^\s(]\S*?)(?:'\d+)?$", re.MULTILINE)

events = collections.Counter()
for profile in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    # Each function counts once per event; a set would lose the order in which they are called.
    events.update(list(dict.fromkeys(FUNCTION.findall(profile.read_text()))))

# Functions first appear roughly in the order in which they are called.
for name, _ in sorted(events.items(), key=lambda item: -item[1]):
    if not name.startswith("0x"):
        print(name)
