"""Runs a command at a terminal of its own, waits for a file, and types: at_terminal.py JSON

JSON: {"command": [...], "environment": {...}, "until": PATH, "typed": TEXT}. Prints {"status": the exit status, below 0 for a signal, "said": TEXT}.
"""

import json
import os
import pty
import select
import signal
import sys
import time

what = json.loads(sys.argv[1])
process, terminal = pty.fork()
if process == 0:
    # Whoever runs this may ignore or hold up signals, which programs inherit.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_DFL)
    os.execvpe(what["command"][0], what["command"], {**os.environ, **what["environment"]})

said, typed, end = b"", False, time.monotonic() + 60
while time.monotonic() < end:
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    if not typed and os.path.exists(what["until"]):
        # A moment, so that the question stands.
        time.sleep(0.3)
        os.write(terminal, what["typed"].encode())
        typed = True
else:
    os.kill(process, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
json.dump({"status": status, "said": said.decode(errors="replace")}, sys.stdout)
