"""Verifies a signature with other programs' code: verify_signature.py pem|tuf PUBLIC_KEY_FILE SIGNATURE_HEX MESSAGE_HEX. Fails where it is invalid."""

import json
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.signer import Key, Signature

form, path, signature, message = sys.argv[1:]
with open(path, "rb") as file:
    text = file.read()
if form == "pem":
    load_pem_public_key(text).verify(bytes.fromhex(signature), bytes.fromhex(message))
else:
    [(key_id, value)] = json.loads(text).items()
    # It takes apart what it is given.
    Key.from_dict(key_id, json.loads(text)[key_id]).verify_signature(Signature(key_id, signature), bytes.fromhex(message))
    # TUF 1.0.34 §4.3, computed by its own library.
    from securesystemslib.formats import encode_canonical
    import hashlib

    assert hashlib.sha256(encode_canonical(value).encode()).hexdigest() == key_id
