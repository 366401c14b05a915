"""Publishes the next root with python-tuf: next_root.py METADATA ROOT_KEY_PEM ROLE OLD_KEY_ID NEW_PUBLIC_KEY_PEM. Replaces one key of a role."""

import sys

from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.metadata import Metadata, Root

folder, secret, role, old, new = sys.argv[1:]
root = Metadata[Root].from_file(folder + "/1.root.json")
with open(secret, "rb") as file:
    private = load_pem_private_key(file.read(), None)


def key(public):
    made = SSlibKey.from_crypto(public)
    # The id that TUF computes: the digest of the key object.
    from hashlib import sha256

    from securesystemslib.formats import encode_canonical

    value = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": made.keyval["public"]}}
    return SSlibKey(sha256(encode_canonical(value).encode()).hexdigest(), "ed25519", "ed25519", value["keyval"])


root.signed.revoke_key(old, role)
with open(new, "rb") as file:
    root.signed.add_key(key(load_pem_public_key(file.read())), role)
root.signed.version += 1
root.signatures.clear()
root.sign(CryptoSigner(private, key(private.public_key())))
root.to_file(folder + "/2.root.json")
