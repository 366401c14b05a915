"""Writes secret keys in the forms of other programs: make_secret_keys.py DIR. Prints one JSON object: file name -> public key in hexadecimal.

The keys are made by the python packages `cryptography`, `securesystemslib` and PyNaCl, so that the tests read what those write.
"""

import base64
import json
import os
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
from nacl.signing import SigningKey
from securesystemslib.signer import CryptoSigner

FOLDER = sys.argv[1]
RAW = serialization.Encoding.Raw, serialization.PublicFormat.Raw


def write(name, content):
    with open(os.open(os.path.join(FOLDER, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def main():
    key = ed25519.Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(*RAW).hex()
    made = {}
    clear = serialization.NoEncryption()
    secret = serialization.BestAvailableEncryption(b"correct horse")
    pem, der, pkcs8 = serialization.Encoding.PEM, serialization.Encoding.DER, serialization.PrivateFormat.PKCS8
    for name, encoding, encryption in [
        ("cryptography.pem", pem, clear),
        ("cryptography.der", der, clear),
        ("cryptography-encrypted.pem", pem, secret),
        ("cryptography-encrypted.der", der, secret),
    ]:
        write(name, key.private_bytes(encoding, pkcs8, encryption))
        made[name] = public
    write("cryptography.raw", key.private_bytes(serialization.Encoding.Raw, serialization.PrivateFormat.Raw, clear))
    made["cryptography.raw"] = public

    signer = CryptoSigner.generate_ed25519()
    write("securesystemslib.pem", signer.private_bytes)
    made["securesystemslib.pem"] = signer.public_key.keyval["public"]

    sodium = SigningKey.generate()
    pair = bytes(sodium) + bytes(sodium.verify_key)
    write("sparkle-seed.txt", base64.b64encode(bytes(sodium)))
    write("sparkle-seed-line.txt", base64.b64encode(bytes(sodium)) + b"\n")
    write("pair.raw", pair)
    write("pair.txt", base64.b64encode(pair) + b"\r\n")
    for name in ["sparkle-seed.txt", "sparkle-seed-line.txt", "pair.raw", "pair.txt"]:
        made[name] = bytes(sodium.verify_key).hex()

    # No keys for us: each must be told by its name.
    write("openssh.pem", key.private_bytes(pem, serialization.PrivateFormat.OpenSSH, clear))
    write("x25519.pem", x25519.X25519PrivateKey.generate().private_bytes(pem, pkcs8, clear))
    write("public.pem", key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    json.dump(made, sys.stdout)


main()
