#!/usr/bin/env python3
"""python-tuf as a device that was shipped with a root: refreshes from a folder of metadata, and looks targets up through the delegations.

tuf_follow.py ROOT METADATA CACHE [--at TIME] [target ...] prints one JSON object: the version of each role that was loaded, and the length of
each target. On failure prints python-tuf's own error on standard error and exits 1.
"""

import argparse
import datetime
import json
import os
import sys
from urllib.parse import unquote, urlsplit

from tuf.api.exceptions import DownloadError, DownloadHTTPError, RepositoryError
from tuf.ngclient import FetcherInterface, Updater


class FolderFetcher(FetcherInterface):
    """Reads what a web server would serve. A name in a URL is encoded once more than in the folder."""

    def __init__(self, folder):
        self.folder = folder

    def _fetch(self, url):
        path = os.path.join(self.folder, unquote(urlsplit(url).path).lstrip("/"))
        if not os.path.isfile(path):
            path = os.path.join(self.folder, urlsplit(url).path.lstrip("/"))
        try:
            with open(path, "rb") as file:
                yield file.read()
        except FileNotFoundError:
            raise DownloadHTTPError(f"no {path}", 404) from None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root")
    parser.add_argument("metadata")
    parser.add_argument("cache")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--at", help="the time at which expiry is judged, 2026-01-01T00:00:00Z say")
    options = parser.parse_intermixed_args()
    os.makedirs(options.cache, exist_ok=True)
    with open(options.root, "rb") as file:
        bootstrap = file.read()
    try:
        updater = Updater(
            options.cache, "http://folder/", target_base_url="http://folder/", fetcher=FolderFetcher(options.metadata), bootstrap=bootstrap
        )
        trusted = updater._trusted_set
        if options.at:
            time = datetime.datetime.strptime(options.at, "%Y-%m-%dT%H:%M:%SZ")
            trusted.reference_time = time.replace(tzinfo=datetime.timezone.utc)
        updater.refresh()
        lengths = {}
        for path in options.targets:
            info = updater.get_targetinfo(path)
            if info is None:
                sys.exit(f"tuf_follow: no such target: {path}")
            lengths[path] = info.length
        versions = {name: signed.version for name, signed in trusted._trusted_set.items()}
        json.dump({"versions": versions, "lengths": lengths}, sys.stdout)
    except (RepositoryError, DownloadError, OSError, ValueError) as error:
        sys.exit(f"tuf_follow: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
