#!/usr/bin/env python3
"""The peer for metadata: python-tuf's client refreshes and looks one target up. tuf_lookup.py ROOT METADATA_URL CACHE TARGET

With CACHE alone it only imports what it needs, to tell how much of its time that is.
"""

import sys

from tuf.ngclient import Updater


def main():
    if len(sys.argv) == 2:
        return
    root, url, cache, path = sys.argv[1:]
    with open(root, "rb") as file:
        bootstrap = file.read()
    updater = Updater(metadata_dir=cache, metadata_base_url=url, bootstrap=bootstrap)
    updater.refresh()
    if updater.get_targetinfo(path) is None:
        sys.exit(f"tuf_lookup: no such target: {path}")


main()
