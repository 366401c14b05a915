#!/usr/bin/env python3
"""A repository with delegations, made with python-tuf's Metadata API, and what python-tuf's own client finds in it.

All in memory, for some role names are longer than a file's name may be. Every role's keys were rotated once. Prints one JSON object:
`files` by URL path, and for each target path that is looked up the digest that python-tuf's Updater finds, null where it finds none, or the name
of its error; `together` in one Updater, `apart` each in one of its own.
"""

import argparse
import datetime
import hashlib
import json
import sys
import tempfile
from urllib import parse

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.exceptions import DownloadHTTPError
from tuf.api.metadata import DelegatedRole, Delegations, Metadata, MetaFile, Role, Root, Snapshot, TargetFile, Targets, Timestamp
from tuf.ngclient import FetcherInterface, Updater

ROLES = ("root", "targets", "snapshot", "timestamp")
EXPIRES = datetime.datetime(2040, 1, 1, tzinfo=datetime.timezone.utc)
NAMES = ["a/b", "../x", "..", "#", "a b", "\u00e4\u2603\U0001f512", "%2F", "Root", "n" * 300]


def signer(name, note=None):
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    key = SSlibKey.from_crypto(private.public_key())
    if note:
        # The same key with a member more has another id (TUF 1.0.34 §4.2).
        members = key.to_dict() | {"note": note}
        key = SSlibKey.from_dict(hashlib.sha256(encode_canonical(members).encode()).hexdigest(), members)
    return CryptoSigner(private, key)


class Publisher:
    def __init__(self, consistent):
        self.consistent = consistent
        self.files = {}
        self.meta = {}
        self.version = 1
        self.generation = dict.fromkeys(ROLES, 0)

    def top(self, role):
        return signer(f"{role} {self.generation[role]}")

    def common(self):
        return {"version": self.version, "expires": EXPIRES}

    def write(self, signed, signers, path):
        metadata = Metadata(signed)
        for one in signers:
            metadata.sign(one, append=True)
        data = metadata.to_bytes()
        self.files[path] = data.decode()
        return MetaFile(signed.version, len(data), {"sha256": hashlib.sha256(data).hexdigest()})

    def publish_root(self, version, former):
        keys = {self.top(role).public_key.keyid: self.top(role).public_key for role in ROLES}
        roles = {role: Role([self.top(role).public_key.keyid], 1) for role in ROLES}
        root = Root(version=version, expires=EXPIRES, keys=keys, roles=roles, consistent_snapshot=self.consistent)
        signers = {one.public_key.keyid: one for one in (former, self.top("root"))}
        self.write(root, signers.values(), f"{version}.root.json")

    def publish_role(self, name, signed, signers):
        prefix = f"{signed.version}." if self.consistent and name != "timestamp" else ""
        return self.write(signed, signers, f"{prefix}{parse.quote(name, '')}.json")

    def targets(self, name, paths, delegations, signers):
        """Publishes a targets role; each delegation is (name, signers that are trusted, threshold, terminating, paths or prefixes)."""
        listed = {path: TargetFile.from_data(path, f"{name}: {path}".encode(), ["sha256"]) for path in paths}
        keys, roles = {}, {}
        for child, trusted, threshold, terminating, scope in delegations:
            keys.update((one.public_key.keyid, one.public_key) for one in trusted)
            roles[child] = DelegatedRole(child, [one.public_key.keyid for one in trusted], threshold, terminating, **scope)
        delegated = Delegations(keys, roles) if roles else None
        self.meta[f"{name}.json"] = self.publish_role(name, Targets(targets=listed, delegations=delegated, **self.common()), signers)

    def publish_all(self):
        """All structures at once, under one top-level role."""
        top = []

        def delegate(name, patterns, paths, children=(), terminating=False, keys=1):
            own = [signer(f"{name} {self.version}/{number}") for number in range(keys)]
            self.targets(name, paths, children, own)
            top.append((name, own, keys, terminating, {"paths": patterns}))

        def child(name, patterns, paths, children=(), terminating=False):
            own = signer(f"{name} {self.version}")
            self.targets(name, paths, children, [own])
            return (name, [own], 1, terminating, {"paths": patterns})

        grandchild = child("grandchild", ["*/*/c"], ["nested/b/c", "nested/b/d"])
        nested = child("child", ["nested/b/*"], ["nested/b/a"], [grandchild])
        delegate("nested", ["nested/*", "nested/?/[a-d]"], ["nested/a"], [nested], keys=2)
        ends = child("ends inside", ["ends/*"], ["ends/inside"], terminating=True)
        never = child("never", ["ends/*"], ["ends/never"])
        delegate("ends", ["ends/*"], ["ends/a"], [ends, never])
        delegate("after", ["ends/*", "after/*"], ["ends/b", "after/a"])
        delegate("last", ["last/*"], ["last/a"], terminating=True)
        delegate("later", ["last/*"], ["last/b"])
        left, right = signer(f"shared for left {self.version}"), signer(f"shared for right {self.version}")
        self.targets("shared", ["left/a", "right/a"], [], [left])
        delegate("left", ["left/*"], [], [("shared", [left], 1, False, {"paths": ["*/*"]})])
        delegate("right", ["right/*"], [], [("shared", [right], 1, False, {"paths": ["*/*"]})])
        twins = [signer("twin"), signer("twin", "the same key again")]
        self.targets("twins", ["twins/a"], [], twins)
        top.append(("twins", twins, 2, True, {"paths": ["twins/*"]}))
        for number, name in enumerate(NAMES):
            delegate(name, [f"names/{number}/*"], [f"names/{number}/a"], terminating=True)
        for number in range(36):
            delegate(f"many-{number}", ["many/*"], [f"many/{number}"])
        bins = {f"{number:x}": [] for number in range(16)}
        for path in BINNED:
            bins[hashlib.sha256(path.encode()).hexdigest()[0]].append(path)
        own = signer(f"bins {self.version}")
        for prefix, paths in bins.items():
            self.targets(f"bin-{prefix}", paths, [], [own])
            top.append((f"bin-{prefix}", [own], 1, True, {"path_hash_prefixes": [prefix]}))
        self.targets("targets", ["top/a"], top, [self.top("targets")])
        snapshot = self.publish_role("snapshot", Snapshot(meta=dict(self.meta), **self.common()), [self.top("snapshot")])
        self.publish_role("timestamp", Timestamp(snapshot_meta=snapshot, **self.common()), [self.top("timestamp")])


BINNED = [f"binned/model-{number}/weights.bin" for number in range(12)]
PATHS = [
    "top/a", "nested/a", "nested/b/a", "nested/b/c", "nested/b/d", "nested/none", "ends/a", "ends/inside", "ends/never", "ends/b", "after/a",
    "last/a", "last/b", "left/a", "right/a", "twins/a", "many/0", "many/31", "many/32", "binned/none",
    *[f"names/{number}/a" for number in range(len(NAMES))], *BINNED,
]  # fmt: skip


class Memory(FetcherInterface):
    def __init__(self, files):
        self.files = files

    def _fetch(self, url):
        path = url.removeprefix("memory:///")
        if path not in self.files:
            raise DownloadHTTPError("not there", 404)
        yield self.files[path].encode()


def look_up(files, paths):
    with tempfile.TemporaryDirectory() as folder:
        updater = Updater(folder, "memory:///", fetcher=Memory(files), bootstrap=files["1.root.json"].encode())
        updater.refresh()
        found = {}
        for path in paths:
            try:
                info = updater.get_targetinfo(path)
                found[path] = info and info.hashes["sha256"]
            except Exception as error:
                found[path] = type(error).__name__
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-consistent-snapshot", action="store_true")
    options = parser.parse_args()
    publisher = Publisher(not options.no_consistent_snapshot)
    publisher.publish_root(1, publisher.top("root"))
    publisher.publish_all()
    for version, role in enumerate(ROLES, start=2):
        former = publisher.top("root")
        publisher.generation[role] += 1
        publisher.publish_root(version, former)
    publisher.version = 2
    publisher.publish_all()
    files = publisher.files
    apart = {path: look_up(files, [path])[path] for path in PATHS}
    json.dump({"files": files, "names": NAMES, "together": look_up(files, PATHS), "apart": apart}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
