#!/usr/bin/env python3
"""A repository made with python-tuf's Metadata API and securesystemslib's Ed25519 signer: OUT_DIR/metadata and OUT_DIR/targets.

Keys, targets and times derive from the options alone, so that equal options make equal bytes. Members that the specification does not name
stand in every place where it allows them, one key included. Prints one JSON object that says what was made.
"""

import argparse
import datetime
import fnmatch
import hashlib
import json
import os
import re
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.metadata import DelegatedRole, Delegations, Metadata, MetaFile, Role, Root, Snapshot, TargetFile, Targets, Timestamp
from tuf.api.serialization.json import JSONSerializer

ROLES = ("root", "targets", "snapshot", "timestamp")
UNKNOWN = {"x-unknown": {"kept": True, "list": [1, "zwei", None], "text": "caf\u00e9 \u2603 \U0001f512 \"\\"}}


def instant(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)


def threshold(text):
    match = re.fullmatch(r"(root|targets|snapshot|timestamp)=([1-9][0-9]*)/([1-9][0-9]*)", text)
    if not match or int(match[2]) > int(match[3]):
        raise argparse.ArgumentTypeError(f"{text}: give ROLE=NEEDED/KEYS, root=2/3 say")
    return match[1], (int(match[2]), int(match[3]))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", metavar="OUT_DIR", help="missing or empty")
    parser.add_argument("--seed", default="0", help="what the keys derive from")
    parser.add_argument("--thresholds", nargs="+", type=threshold, default=[], metavar="ROLE=NEEDED/KEYS", help="1/1 where not given")
    parser.add_argument("--no-consistent-snapshot", action="store_true")
    parser.add_argument("--rotate", action="append", choices=ROLES, default=[], metavar="ROLE", help="one more root, new keys for ROLE")
    parser.add_argument("--targets", type=int, default=3, metavar="N", help="how many targets (3)")
    parser.add_argument(
        "--delegate", action="append", default=[], metavar="ROLE=PATTERN", help="a delegated role, which lists the targets that match")
    parser.add_argument("--big", type=int, metavar="BYTES", help="one more target, big.bin: a sparse file of zeros")
    parser.add_argument("--expires", type=instant, default=instant("2040-01-01T00:00:00Z"), metavar="TIME", help="of all four roles")
    parser.add_argument("--expires-role", nargs=2, action="append", default=[], metavar=("ROLE", "TIME"), help="of one role")
    parser.add_argument("--version", type=int, default=1, help="of targets, snapshot and timestamp (1)")
    parser.add_argument("--bare-meta", action="store_true", help="no length and no hashes in snapshot and timestamp")
    parser.add_argument("--sha512", action="store_true", help="SHA-512 beside each target's SHA-256")
    parser.add_argument("--compact", action="store_true", help="JSON without white space; indented otherwise")
    parser.add_argument("--no-unknown-members", action="store_true")
    return parser.parse_args()


class Publisher:
    def __init__(self, options):
        self.options = options
        self.unknown = {} if options.no_unknown_members else UNKNOWN
        self.needed = {role: (1, 1) for role in ROLES} | dict(options.thresholds)
        self.expires = {role: options.expires for role in ROLES} | {role: instant(time) for role, time in options.expires_role}
        self.generation = dict.fromkeys(ROLES, 0)
        self.metadata = os.path.join(options.directory, "metadata")
        self.serializer = JSONSerializer(compact=options.compact)
        os.makedirs(self.metadata)

    def signers(self, role):
        """The signers of a role in its current generation."""
        return [self.signer(role, number) for number in range(self.needed[role][1])]

    def signer(self, role, number):
        name = f"{self.options.seed}/{role}/{self.generation[role]}/{number}"
        private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
        key = SSlibKey.from_crypto(private.public_key())
        if role == "root" and number == 0 and self.unknown:
            # What an unknown member does to a key: it is part of what the key id is the digest of (TUF 1.0.34 §4.2).
            members = key.to_dict() | self.unknown
            keyid = hashlib.sha256(encode_canonical(members).encode()).hexdigest()
            key = SSlibKey.from_dict(keyid, members)
        return CryptoSigner(private, key)

    def common(self, role, version):
        return {"version": version, "expires": self.expires[role], "unrecognized_fields": dict(self.unknown)}

    def write(self, role, signed, signers, name):
        metadata = Metadata(signed, unrecognized_fields=dict(self.unknown))
        for signer in signers:
            metadata.sign(signer, append=True)
        data = metadata.to_bytes(self.serializer)
        with open(os.path.join(self.metadata, name), "wb") as file:
            file.write(data)
        return data

    def publish_root(self, version, former):
        keys, roles = {}, {}
        for role in ROLES:
            public = [signer.public_key for signer in self.signers(role)]
            keys.update((key.keyid, key) for key in public)
            roles[role] = Role([key.keyid for key in public], self.needed[role][0], dict(self.unknown))
        consistent = not self.options.no_consistent_snapshot
        root = Root(keys=keys, roles=roles, consistent_snapshot=consistent, **self.common("root", version))
        signers = {signer.public_key.keyid: signer for signer in former + self.signers("root")}
        self.write("root", root, signers.values(), f"{version}.root.json")

    def publish_roots(self):
        self.publish_root(1, [])
        for version, role in enumerate(self.options.rotate, start=2):
            former = self.signers("root")
            self.generation[role] += 1
            self.publish_root(version, former)
        return 1 + len(self.options.rotate)

    def publish_role(self, role, signed):
        plain = self.options.no_consistent_snapshot or role == "timestamp"
        name = f"{role}.json" if plain else f"{signed.version}.{role}.json"
        data = self.write(role, signed, self.signers(role), name)
        hashes = {"sha256": hashlib.sha256(data).hexdigest()}
        if self.options.bare_meta:
            return MetaFile(signed.version, unrecognized_fields=dict(self.unknown))
        return MetaFile(signed.version, len(data), hashes, dict(self.unknown))

    def write_target(self, number):
        """Targets at several depths, of lengths from 0 up to over two blocks of the fs-verity tree."""
        path = ("file-{0}.bin", "org/model-{0}/weights.bin", "org/model-{0}/1.0/part of {0}.bin")[number % 3].format(number)
        length = (number * 1361) % 10_000
        block = hashlib.sha256(f"{self.options.seed}/{path}".encode()).digest()
        data = (block * (length // 32 + 1))[:length]
        algorithms = ["sha256"] + (["sha512"] if self.options.sha512 else [])
        hashes = {algorithm: hashlib.new(algorithm, data).hexdigest() for algorithm in algorithms}
        folder, name = os.path.split(os.path.join(self.options.directory, "targets", path))
        os.makedirs(folder, exist_ok=True)
        names = [name] if self.options.no_consistent_snapshot else [f"{digest}.{name}" for digest in hashes.values()]
        for name in names:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        unknown = dict(self.unknown)
        if unknown:
            unknown["custom"] = {"number": number} | self.unknown
        return TargetFile(length, hashes, path, unknown)

    def write_big_target(self):
        digest, length = hashlib.sha256(), self.options.big
        for start in range(0, length, 1 << 20):
            digest.update(bytes(min(1 << 20, length - start)))
        path = "big.bin"
        name = path if self.options.no_consistent_snapshot else f"{digest.hexdigest()}.{path}"
        with open(os.path.join(self.options.directory, "targets", name), "wb") as file:
            file.truncate(length)
        return TargetFile(length, {"sha256": digest.hexdigest()}, path)

    def publish_delegated(self, files):
        """Takes the delegated targets out of the files, and publishes the roles that list them."""
        keys, roles, meta = {}, {}, {}
        for role, _, pattern in (text.partition("=") for text in self.options.delegate):
            self.needed[role], self.generation[role], self.expires[role] = (1, 1), 0, self.options.expires
            own = {path: files.pop(path) for path in fnmatch.filter(list(files), pattern)}
            meta[f"{role}.json"] = self.publish_role(role, Targets(targets=own, **self.common(role, self.options.version)))
            key = self.signers(role)[0].public_key
            keys[key.keyid] = key
            roles[role] = DelegatedRole(role, [key.keyid], 1, False, [pattern])
        return (Delegations(keys, roles) if roles else None), meta

    def publish(self):
        roots = self.publish_roots()
        os.makedirs(os.path.join(self.options.directory, "targets"))
        files = {file.path: file for file in map(self.write_target, range(self.options.targets))}
        if self.options.big is not None:
            files["big.bin"] = self.write_big_target()
        version = self.options.version
        delegations, meta = self.publish_delegated(files)
        targets = Targets(targets=files, delegations=delegations, **self.common("targets", version))
        meta["targets.json"] = self.publish_role("targets", targets)
        snapshot = self.publish_role("snapshot", Snapshot(meta=meta, **self.common("snapshot", version)))
        self.publish_role("timestamp", Timestamp(snapshot_meta=snapshot, **self.common("timestamp", version)))
        return {
            "versions": {"root": roots, "targets": version, "snapshot": version, "timestamp": version},
            "keyids": {role: [signer.public_key.keyid for signer in self.signers(role)] for role in ROLES},
            "targets": [{"path": path, "length": file.length, "hashes": file.hashes} for path, file in sorted(files.items())],
        }


def main():
    options = arguments()
    if os.path.isdir(options.directory) and os.listdir(options.directory):
        sys.exit(f"tuf_publisher: {options.directory} is not empty")
    json.dump(Publisher(options).publish(), sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
