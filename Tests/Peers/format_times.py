"""Reads counts of seconds since 1970, one a line; writes each as TUF metadata writes a time."""
import datetime
import sys

EPOCH = datetime.datetime(1970, 1, 1)
for line in sys.stdin:
    print((EPOCH + datetime.timedelta(seconds=int(line))).isoformat(timespec="seconds") + "Z")
