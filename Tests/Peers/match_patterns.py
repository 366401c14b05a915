"""Reads a JSON array of [pattern, path] pairs; writes one line each: 1 where every segment matches by fnmatch, else 0."""
import fnmatch
import json
import sys

for pattern, path in json.load(sys.stdin):
    patterns, segments = pattern.split("/"), path.split("/")
    matches = len(patterns) == len(segments) and all(fnmatch.fnmatchcase(s, p) for p, s in zip(patterns, segments))
    print(int(matches))
