"""Reads a secret key file as Documentation/secret-key-format.md specifies it, with nothing of manifest-sign.

usage: read_secret_key.py FILE [PASSPHRASE-FILE]
Prints the name, the public key and the seed, a line each. For tests with worthless keys only.
"""

import re
import sys

from nacl import bindings

ENCRYPTED = re.compile(
    rb"(?P<header>manifest-sign secret key 1\n"
    rb"name: (?P<name>[^\x00-\x1f\x7f]{1,100})\n"
    rb"public-key: (?P<public>[0-9a-f]{64})\n"
    rb"kdf: argon2id13\n"
    rb"opslimit: (?P<ops>[1-9]|10)\n"
    rb"memlimit: (?P<mem>[1-9][0-9]{3,9})\n"
    rb"salt: (?P<salt>[0-9a-f]{32})\n"
    rb"nonce: (?P<nonce>[0-9a-f]{48})\n)"
    rb"ciphertext: (?P<ciphertext>[0-9a-f]{96})\n"
)
CLEAR = re.compile(
    rb"manifest-sign secret key 1\n"
    rb"name: (?P<name>[^\x00-\x1f\x7f]{1,100})\n"
    rb"public-key: (?P<public>[0-9a-f]{64})\n"
    rb"kdf: none\n"
    rb"seed: (?P<seed>[0-9a-f]{64})\n"
)


def unhex(text: bytes) -> bytes:
    return bytes.fromhex(text.decode("ascii"))


def read(text: bytes, passphrase: bytes | None) -> tuple[str, bytes, bytes]:
    if len(text) > 1024:
        raise ValueError("too long")
    if fields := ENCRYPTED.fullmatch(text):
        memory = int(fields["mem"])
        if not 8192 <= memory <= 1 << 30 or memory % 1024:
            raise ValueError("memlimit out of bounds")
        if passphrase is None:
            raise ValueError("a passphrase is needed")
        key = bindings.crypto_pwhash_alg(
            32, passphrase, unhex(fields["salt"]), int(fields["ops"]), memory, bindings.crypto_pwhash_ALG_ARGON2ID13
        )
        seed = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
            unhex(fields["ciphertext"]), fields["header"], unhex(fields["nonce"]), key
        )
    elif fields := CLEAR.fullmatch(text):
        seed = unhex(fields["seed"])
    else:
        raise ValueError("not a secret key file of version 1")
    public, _ = bindings.crypto_sign_seed_keypair(seed)
    if public != unhex(fields["public"]):
        raise ValueError("the secret half does not belong to the public half")
    return fields["name"].decode("utf-8"), public, seed


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        text = file.read()
    passphrase = None
    if len(sys.argv) > 2:
        with open(sys.argv[2], "rb") as file:
            passphrase = re.sub(rb"\r?\n\Z", b"", file.read())
    name, public, seed = read(text, passphrase)
    print(name, public.hex(), seed.hex(), sep="\n")


main()
