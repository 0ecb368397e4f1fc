"""Lists what events use of a program, so that the linker can put it next to each other: what most events use comes first.

    link-order.py MAP TRACES FOLDER

MAP is the linker's map of the program. TRACES has one file per event, with the addresses that it used (trace.py). FOLDER gets
`symbols.txt`, the functions and the variables without a value, and `sections.ld`, a script for what has no name: constants, and
variables with a value.
"""

import bisect
import collections
import pathlib
import re
import sys

map_file, traces, folder = map(pathlib.Path, sys.argv[1:])

# The map has a row for each section of the program, in it one for each section of an object file, in it one for each symbol.
ROW = re.compile(r" *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ ( *)(\S.*)")
INPUT = re.compile(r"(?P<file>.*):\((?P<name>.*)\)")
# Larger constants are not needed as a whole: they would fill the pages that the others share.
LARGEST = 32 * 1024
# What reads the clock: under valgrind, a program does not find the system's own code for it.
CLOCK = {"symbols": ["__vdsosym", "strcmp"], "constants": [".rodata.cgt_init.str1.1"]}

Section = collections.namedtuple("Section", "start size output file name symbols")
sections, output = [], None
for row in ROW.finditer(map_file.read_text()):
    start, size, depth, text = int(row[1], 16), int(row[2], 16), len(row[3]) // 8, row[4]
    if depth == 0:
        output = text
    elif depth == 1 and (found := INPUT.fullmatch(text)):
        sections.append(Section(start, size, output, found["file"], found["name"], []))
    elif depth == 2 and sections:
        sections[-1].symbols.append(text)
sections = sorted(section for section in sections if section.size)
starts = [section.start for section in sections]


def used_in(trace):
    """The sections that an event uses, in order of first use."""
    found = (sections[bisect.bisect_right(starts, int(address, 16)) - 1] for address in trace.read_text().split())
    return dict.fromkeys(section[:5] for section in found)


events = collections.Counter()
by_place = {section[:5]: section for section in sections}
for trace in sorted(traces.iterdir()):
    events.update(list(used_in(trace)))
used = [by_place[place] for place, _ in sorted(events.items(), key=lambda item: -item[1])]


def pattern(section):
    """A pattern for the script that matches a section. Names like `.text` are not those of one function or constant."""
    member = re.fullmatch(r"(.*)\((.*)\)", section.file)
    file = f"*{pathlib.Path(member[1]).name}:{member[2]}" if member else f"*{pathlib.Path(section.file).name}"
    return f'{file}("{section.name}")' if section.name.count(".") < 2 else f'*("{section.name}")'


def script(name, patterns, place):
    return "\n".join(["SECTIONS", "{", f"  {name} :", "  {", *(f"    {line}" for line in patterns), "  }", "}", f"INSERT {place};", ""])


of = lambda output: [section for section in used if section.output == output and section.size < LARGEST]
symbols = [section.symbols[0] for output in (".text", ".bss") for section in of(output) if section.symbols]
constants = [f'*("{name}")' for name in CLOCK["constants"]] + [pattern(section) for section in of(".rodata")]
(folder / "symbols.txt").write_text("\n".join(CLOCK["symbols"] + symbols) + "\n")
(folder / "sections.ld").write_text(
    script(".rodata.used", constants, "BEFORE .rodata")
    + script(".init", ["KEEP(*(.init))"], "BEFORE .text")
    + script(".fini", ["KEEP(*(.fini))"], "BEFORE .text")
    + script(".data.used", [pattern(section) for section in of(".data")], "BEFORE .bss")
)
print(f"{len(symbols)} functions and variables, {len(constants)} constants in order")
