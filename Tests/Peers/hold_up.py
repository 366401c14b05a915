"""Runs a command, holds it up, and looks for secrets in its memory: hold_up.py JSON

JSON: {"command": […], "environment": {…}, "folder": DIR, "until": "output" or PATH, "patterns": [HEX…]}. With "output" the command gets a full pipe
for its output: it does its work, wants to tell of it, and waits there. With a path it is looked at once that file is there.
Prints {"memory": counts, "environ": counts, "core": counts, "coreSize": N, "signal": N, "left": [names]}: of each pattern in the writable memory, in
the block of the environment, in a core file that gcore makes; the signal that ended it in the end, and what it left in the folder.
"""

import glob
import json
import os
import signal
import subprocess
import sys
import time

what = json.loads(sys.argv[1])
patterns = [bytes.fromhex(text) for text in what["patterns"]]
folder = what["folder"]


def counts(pieces):
    result = [0] * len(patterns)
    for piece in pieces:
        for index, one in enumerate(patterns):
            result[index] += piece.count(one)
    return result


def content(path):
    with open(path, "rb") as file:
        return file.read()


def memory(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as source:
        for line in maps:
            addresses, permissions = line.split()[:2]
            if not permissions.startswith("rw"):
                continue
            start, end = (int(address, 16) for address in addresses.split("-"))
            piece = b""
            while start < end:
                try:
                    source.seek(start)
                    part = source.read(min(end - start, 1 << 24))
                except OSError:
                    break
                if not part:
                    break
                piece += part
                start += len(part)
            yield piece


def wait_until(ready, process):
    for _ in range(1200):
        if process.poll() is not None:
            sys.exit(f"the command ended with {process.returncode} instead of waiting: {content(folder + '.err').decode()}")
        if ready():
            return
        time.sleep(0.05)
    sys.exit("the command never got to where it should wait")


# Whoever runs this may do so from a thread that holds signals up, which programs inherit.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
reader, writer = os.pipe()
os.set_blocking(writer, False)
for size in (4096, 1):
    try:
        while True:
            os.write(writer, b" " * size)
    except BlockingIOError:
        pass
os.set_blocking(writer, True)
with open(folder + ".err", "wb") as errors:
    # The shell allows core files as long as they like; what the command makes of that is what is tested.
    process = subprocess.Popen(
        ["sh", "-c", 'ulimit -c unlimited 2>/dev/null; exec "$0" "$@"'] + what["command"], cwd=folder, stdin=subprocess.DEVNULL, stdout=writer,
        stderr=errors, env={**os.environ, **what["environment"]})
try:
    if what["until"] == "output":
        # write(1, …): system call 1 on x86-64, 64 on AArch64.
        wait_until(lambda: content(f"/proc/{process.pid}/syscall").split()[:2] in ([b"1", b"0x1"], [b"64", b"0x1"]), process)
    else:
        wait_until(lambda: os.path.exists(what["until"]), process)
    found = {"memory": counts(memory(process.pid)), "environ": counts([content(f"/proc/{process.pid}/environ")])}
    made = subprocess.run(["gcore", "-o", folder + ".core", str(process.pid)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    [core] = glob.glob(folder + ".core.*") or sys.exit(f"gcore made no core file: {made.stderr.decode()}")
    found["core"], found["coreSize"] = counts([content(core)]), os.path.getsize(core)
    os.kill(process.pid, signal.SIGABRT)
    found["signal"] = -process.wait(timeout=60)
    found["left"] = os.listdir(folder)
    json.dump(found, sys.stdout)
finally:
    process.kill()
