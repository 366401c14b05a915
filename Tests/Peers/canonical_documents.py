"""Prints random JSON texts and the canonical form that securesystemslib gives each: two hexadecimal fields a line.

usage: canonical_documents.py SEED COUNT
"""
import json
import random
import sys

from securesystemslib.formats import encode_canonical

SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
RANGES = [(0x20, 0x7E)] * 6 + [(0x00, 0x1F), (0x7F, 0x9F), (0xA0, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
WORDS = ["", "a", "b", "aa", "signed", "\u00e9", "e\u0301", "\ufb01", "\uffff", "\U00010000", "\U0010ffff", '"', "\\", "\x00"]
EDGES = [0, 1, -1, 2**63 - 1, -(2**63), 10**18, -(10**18)]


def text(rng):
    if rng.random() < 0.3:
        return rng.choice(WORDS)
    return "".join(chr(rng.randint(*rng.choice(RANGES))) for _ in range(rng.choice([0, 1, 2, 7, 8, 9, 20, 70])))


def write_text(rng, value):
    out = ['"']
    always = rng.random() < 0.1
    for char in value:
        code = ord(char)
        must = code < 0x20 or char in '"\\'
        if not must and not always and rng.random() < 0.9:
            out.append(char)
        elif char in SHORT and rng.random() < 0.7:
            out.append(SHORT[char])
        elif code > 0xFFFF:
            high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)
            out.append(rng.choice(["\\u%04x\\u%04X", "\\u%04X\\u%04x"]) % (high, low))
        else:
            out.append(rng.choice(["\\u%04x", "\\u%04X"]) % code)
    return "".join(out) + '"'


def write(rng, depth, spaced):
    def space():
        return "".join(rng.choice(" \t\r\n") for _ in range(rng.randint(0, 3))) if spaced else ""

    kind = rng.random()
    if depth > 0 and kind < 0.35:
        names = list({text(rng) for _ in range(rng.choice([0, 1, 2, 3, 8, 30 if depth == 1 else 3]))})
        names.sort()
        if rng.random() < 0.7:
            rng.shuffle(names)
        members = [space() + write_text(rng, n) + space() + ":" + space() + write(rng, depth - 1, spaced) + space() for n in names]
        return "{" + (",".join(members) or space()) + "}"
    if depth > 0 and kind < 0.55:
        elements = [space() + write(rng, depth - 1, spaced) + space() for _ in range(rng.randint(0, 5))]
        return "[" + (",".join(elements) or space()) + "]"
    if kind < 0.8:
        return write_text(rng, text(rng))
    if kind < 0.93:
        value = rng.choice(EDGES) if rng.random() < 0.3 else rng.randint(-(10 ** rng.randint(0, 18)), 10 ** rng.randint(0, 18))
        return "-0" if value == 0 and rng.random() < 0.5 else str(value)
    return rng.choice(["true", "false", "null"])


rng = random.Random(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    document = write(rng, rng.choice([1, 3, 5]), rng.random() < 0.5).encode()
    print(document.hex(), encode_canonical(json.loads(document)).encode().hex())
