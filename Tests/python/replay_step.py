#!/usr/bin/env python3
"""Types keys at the terminal of `cambium replay notes --step`, and prints the end of the command and what the terminal showed.

    replay_step.py PROGRAM KEYS [ARGUMENT...]

The current directory has the store `notes`. KEYS is a JSON list of texts; each is typed after the next question has been shown. The terminal
is narrow: 20 columns. Nothing waits longer than SECONDS: then the command is killed. The output is a JSON object with `status`, which is an
exit code or the negative number of a signal, and `text`.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

SECONDS = 20
QUESTION = b"q: end "


def main(program, keys, arguments):
    process, terminal = pty.fork()
    if process == 0:
        for number in [signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP]:
            signal.signal(number, signal.SIG_DFL)
        # Threads of Dispatch start programs with blocked signals.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execv(program, [program, "replay", "notes", "--step"] + arguments)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
    text, asked, end = b"", 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                part = os.read(terminal, 1000)
            except OSError:  # The command has ended.
                break
            if not part:
                break
            text += part
        if keys and text.count(QUESTION) > asked:
            asked += 1
            os.write(terminal, keys.pop(0).encode())
    else:
        os.kill(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    print(json.dumps({"status": status, "text": text.decode().replace("\r\n", "\n")}))


main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:])
