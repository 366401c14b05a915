"""How often bytes stand in another process's memory, or in a file: search_memory.py PID|FILE HEX… Prints one JSON list of counts.

All memory that the process can write to is read, also what is kept out of core files.
"""

import json
import os
import sys


def pieces(source):
    if not source.isdigit():
        with open(source, "rb") as file:
            yield file.read()
        return
    with open(f"/proc/{source}/maps", encoding="utf-8") as maps, open(f"/proc/{source}/mem", "rb", buffering=0) as memory:
        for line in maps:
            addresses, permissions = line.split()[:2]
            if not permissions.startswith("rw"):
                continue
            start, end = (int(address, 16) for address in addresses.split("-"))
            content = b""
            while start < end:
                try:
                    memory.seek(start)
                    part = memory.read(min(end - start, 1 << 24))
                except OSError:
                    break
                if not part:
                    break
                content += part
                start += len(part)
            yield content


wanted = [bytes.fromhex(text) for text in sys.argv[2:]]
counts = [0] * len(wanted)
for piece in pieces(sys.argv[1]):
    for index, one in enumerate(wanted):
        counts[index] += piece.count(one)
json.dump(counts, sys.stdout)
