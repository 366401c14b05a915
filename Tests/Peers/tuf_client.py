#!/usr/bin/env python3
"""python-tuf as the second client: refreshes from a repository, starting at the root given, and downloads targets.

Prints one JSON object: the version of each top-level role, and path, length, SHA-256 and local file of each target. On failure prints
python-tuf's own error on standard error and exits 1; 2 is wrong usage.
"""

import argparse
import datetime
import hashlib
import json
import os
import sys

from tuf.api.exceptions import DownloadError, RepositoryError
from tuf.ngclient import Updater, UpdaterConfig


def instant(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", help="the root metadata to start from, 1.root.json say")
    parser.add_argument("metadata_url", help="where N.root.json and timestamp.json are served")
    parser.add_argument("targets_url", help="where targets are served")
    parser.add_argument("cache", help="folder for trusted metadata and downloads; kept from one run to the next")
    parser.add_argument("targets", nargs="*", metavar="target", help="target paths to download")
    parser.add_argument("--at", type=instant, metavar="TIME", help="the time at which expiry is judged, 2026-01-01T00:00:00Z say")
    parser.add_argument("--no-hash-prefix", action="store_true", help="targets are named without their digest even under consistent snapshots")
    return parser.parse_args()


def follow(options):
    metadata = os.path.join(options.cache, "metadata")
    downloads = os.path.join(options.cache, "targets")
    os.makedirs(metadata, exist_ok=True)
    os.makedirs(downloads, exist_ok=True)
    with open(options.root, "rb") as file:
        bootstrap = file.read()

    updater = Updater(
        metadata_dir=metadata,
        metadata_base_url=options.metadata_url,
        target_dir=downloads,
        target_base_url=options.targets_url,
        # Applies where the root says consistent_snapshot; without that python-tuf never adds a prefix.
        config=UpdaterConfig(prefix_targets_with_hash=not options.no_hash_prefix),
        bootstrap=bootstrap,
    )
    trusted = updater._trusted_set
    if options.at is not None:
        trusted.reference_time = options.at
    updater.refresh()

    targets = []
    for path in options.targets:
        info = updater.get_targetinfo(path)
        if info is None:
            sys.exit(f"tuf_client: no such target: {path}")
        local = os.path.join(downloads, hashlib.sha256(path.encode()).hexdigest())
        updater.download_target(info, local)
        with open(local, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        targets.append({"path": path, "length": os.path.getsize(local), "sha256": digest, "file": local})
    roles = {name: getattr(trusted, name).version for name in ("root", "timestamp", "snapshot", "targets")}
    return {"versions": roles, "targets": targets}


def main():
    options = arguments()
    try:
        result = follow(options)
    except (RepositoryError, DownloadError, OSError, ValueError) as error:
        sys.exit(f"tuf_client: {type(error).__name__}: {error}")
    json.dump(result, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
