#!/usr/bin/env python3
"""A repository with delegations, made with python-tuf: tuf_teams.py OUT_DIR [--version N] [--expire ROLE] [--usurp ROLE] [--omit ROLE]

Without consistent snapshots. targets lists top.bin and delegates to
  "team/ä"   team/*            and from there to "inner", team/inner/*; it also lists stray/not-mine.bin, with which nobody trusts it
  "bins"     hashes 0 to f     its file: elsewhere/any.bin
--expire: the role's metadata expired in 2020; --usurp: it is signed by another key; --omit: it is not there.
Prints the key ids of each role.
"""

import argparse
import datetime
import hashlib
import json
import os
import sys
import urllib.parse

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.metadata import DelegatedRole, Delegations, Metadata, MetaFile, Role, Root, Snapshot, TargetFile, Targets, Timestamp

FILES = {
    "targets": ["top.bin"],
    "team/\u00e4": ["team/a.bin", "team/b.bin", "stray/not-mine.bin"],
    "inner": ["team/inner/c.bin"],
    "bins": ["elsewhere/any.bin"],
}


def signer(name):
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
    return CryptoSigner(private, SSlibKey.from_crypto(private.public_key()))


def delegate(*roles):
    keys = {}
    for role in roles:
        for keyid, name in zip(role.keyids, ROLE_KEYS[role.name]):
            keys[keyid] = signer(name).public_key
    return Delegations(keys, {role.name: role for role in roles})


ROLE_KEYS = {"team/\u00e4": ["team-1", "team-2"], "inner": ["inner-1"], "bins": ["bins-1"]}


def keyids(role):
    return [signer(name).public_key.keyid for name in ROLE_KEYS[role]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--version", type=int, default=1)
    for option in ("--expire", "--usurp", "--omit"):
        parser.add_argument(option, action="append", default=[])
    options = parser.parse_args()
    folder = os.path.join(options.directory, "metadata")
    os.makedirs(folder)

    def expiry(role):
        return datetime.datetime(2020 if role in options.expire else 2040, 1, 1, tzinfo=datetime.timezone.utc)

    def write(role, signed, names, file_name):
        metadata = Metadata(signed)
        for name in ["usurper"] if role in options.usurp else names:
            metadata.sign(signer(name), append=True)
        data = metadata.to_bytes()
        if role not in options.omit:
            with open(os.path.join(folder, file_name), "wb") as file:
                file.write(data)
        return MetaFile(signed.version, len(data), {"sha256": hashlib.sha256(data).hexdigest()})

    def target(path):
        data = f"{path}\n".encode() * 300
        full = os.path.join(options.directory, "targets", path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
        return TargetFile(len(data), {"sha256": hashlib.sha256(data).hexdigest()}, path)

    delegations = {
        "targets": delegate(
            DelegatedRole("team/\u00e4", keyids("team/\u00e4"), 2, False, paths=["team/*", "team/inner/*"]),
            DelegatedRole("bins", keyids("bins"), 1, False, path_hash_prefixes=list("0123456789abcdef")),
        ),
        "team/\u00e4": delegate(DelegatedRole("inner", keyids("inner"), 1, True, paths=["team/inner/*"])),
    }
    meta = {}
    for role, paths in FILES.items():
        signed = Targets(options.version, expires=expiry(role), targets={path: target(path) for path in paths}, delegations=delegations.get(role))
        file_name = urllib.parse.quote(role, safe="") + ".json"
        meta[f"{role}.json"] = write(role, signed, ROLE_KEYS.get(role, [role]), file_name)
    snapshot = write("snapshot", Snapshot(options.version, expires=expiry("snapshot"), meta=meta), ["snapshot"], "snapshot.json")
    write("timestamp", Timestamp(options.version, expires=expiry("timestamp"), snapshot_meta=snapshot), ["timestamp"], "timestamp.json")
    names = ("root", "targets", "snapshot", "timestamp")
    keys = {signer(name).public_key.keyid: signer(name).public_key for name in names}
    roles = {name: Role([signer(name).public_key.keyid], 1) for name in names}
    write("root", Root(expires=expiry("root"), keys=keys, roles=roles, consistent_snapshot=False), ["root"], "1.root.json")
    json.dump({role: keyids(role) for role in ROLE_KEYS} | {name: [signer(name).public_key.keyid] for name in names}, sys.stdout)


main()
