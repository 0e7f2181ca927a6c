#!/usr/bin/env python3
"""Sends keys and signals to `cambium query notes` at a new terminal, and checks their effects.

    prompt_terminal.py PROGRAM SCENARIO [NUMBER]

The current directory has the store `notes`. Nothing waits longer than SECONDS: then the prompt is killed, and the scenario fails.
A scenario that succeeds prints `ok`.
"""

import fcntl
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import termios
import time

SECONDS = 20
SLOW = b"Item sort note.items.note.items.@max.name limit 1"
HANDLED = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGCONT]


class Prompt:
    """A prompt at a new terminal. With `controls`, the terminal is the controlling terminal of a new session."""

    def __init__(self, program, controls=False):
        self.end = time.monotonic() + SECONDS
        self.master, self.terminal = pty.openpty()
        self.settings = self.current_settings()
        self.text = b""

        def prepare():
            for number in HANDLED:
                signal.signal(number, signal.SIG_DFL)
            # Threads of Dispatch start programs with blocked signals. The prompt must not depend on it.
            signal.pthread_sigmask(signal.SIG_SETMASK, [] if controls else HANDLED)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if controls:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            else:
                # The kernel stops a program only if its parent is in another process group of the same session.
                os.setpgid(0, 0)

        environment = dict(os.environ, TERM="xterm", XDG_STATE_HOME=os.getcwd())
        self.process = subprocess.Popen(
            [program, "query", "notes"], stdin=self.terminal, stdout=self.terminal, stderr=self.terminal, env=environment,
            preexec_fn=prepare)

    def current_settings(self):
        return termios.tcgetattr(self.terminal)

    def is_raw(self):
        return self.current_settings() != self.settings

    def wait(self, wanted, name):
        """Waits until a function returns true. Reads the terminal only if the function does so."""
        while not wanted():
            if time.monotonic() > self.end:
                raise AssertionError(f"{name}: not within {SECONDS} seconds")
            select.select([], [], [], 0.01)

    def wait_for_text(self, text):
        """Reads the terminal until it has shown a text, and forgets the text up to its end."""

        def is_shown():
            if select.select([self.master], [], [], 0)[0]:
                self.text += os.read(self.master, 1000)
            return text in self.text

        self.wait(is_shown, f"the text {text!r}")
        self.text = self.text.split(text, 1)[1]

    def begin(self):
        self.wait_for_text(b"cambium> ")
        self.wait(self.is_raw, "the settings of the prompt")

    def type(self, keys):
        os.write(self.master, keys)

    def enter(self, line):
        """Enters a line, and waits until the line is run."""
        self.type(line + b"\r")
        self.wait(lambda: not self.is_raw(), "the end of the line")

    def send(self, number):
        self.process.send_signal(number)

    def wait_for_stop(self):
        """Waits until the prompt is stopped."""
        options = os.WSTOPPED | os.WNOHANG
        self.wait(lambda: os.waitid(os.P_PID, self.process.pid, options) is not None, "the prompt is stopped")

    def finish(self, status):
        """Waits for the end of the prompt, whose status is the negative number of a signal or an exit code."""
        self.wait(lambda: self.process.poll() is not None, "the end of the prompt")
        assert self.process.returncode == status, f"the status is {self.process.returncode}"
        assert not self.is_raw(), "the terminal has other settings than before"


def edits_lines(program):
    """Moves in the line, deletes and inserts. The answer shows which line was entered."""
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    lines = [
        "Note where title == \"漢字 ñ\"\r",
        "here title == \"漢字x ñ\"" + 3 * "\x1b[D" + "\x7f\x01Note w\x05\r",
        "Note where wrong\x17title == \"漢\"\x1b[D字 \x06\x02ñ\r",
        "wrong\x15Note where titlex == \"漢字 ñ\"\x01\x1b[1;5C\x1b[1;5C\x1b[1;5C\x1b[D\x1b[C\x08\x05\r",
        "Note where title == \"漢字 ñ\" wrong words\x1bb\x1bb\x0b\r",
    ]
    for line in lines:
        prompt.type(line.encode())
        prompt.wait_for_text("漢字 ñ\r\n".encode())
        prompt.wait_for_text(b"1 row")
        prompt.begin()
    prompt.type(b"\xff\xc3Note cou\xffnt\r")
    prompt.wait_for_text(b"1 row")
    prompt.begin()
    prompt.type(b"\x04")
    prompt.finish(0)


def recalls_lines(program):
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    for line in [b"Note count", b"Note count", b"  ", b"Item count"]:
        prompt.type(line + b"\r")
        if line != b"  ":
            prompt.wait_for_text(b"1 row")
        prompt.begin()
    # The arrow twice, and ctrl-r with a letter of the older line.
    prompt.type(b"\x1b[A\x1b[A\r")
    prompt.wait_for_text(b"1 row")
    prompt.begin()
    prompt.type(b"\x12It")
    prompt.wait_for_text(b"Item count")
    prompt.type(b"\r")
    prompt.wait_for_text(b"1 row")
    prompt.begin()
    prompt.type(b"\x04")
    prompt.finish(0)
    prompt = Prompt(program)
    prompt.begin()
    prompt.type(b"\x1b[A\x1b[A\r")
    prompt.wait_for_text(b"1 row")
    prompt.begin()
    prompt.type(b"\x04")
    prompt.finish(0)


def completes_names(program):
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    prompt.type(b"s\t")
    prompt.wait_for_text(b"schema  set     show\r\n")
    prompt.wait_for_text(b"cambium> s")
    prompt.type(b"\x15It\t cou\t\r")
    prompt.wait_for_text(b"1 row")
    prompt.begin()
    prompt.type(b"\x04")
    prompt.finish(0)


def ends_at_the_prompt(program, number):
    """A signal ends the prompt while a person edits a line."""
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    prompt.send(number)
    prompt.finish(-number)


def ends_during_a_query(program, number):
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    prompt.enter(SLOW)
    prompt.send(number)
    prompt.finish(-number)


def gives_a_new_line(program):
    """Ctrl-c, and a signal from another process, discard the line that a person edits."""
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    prompt.type(b"\x03")
    prompt.wait_for_text(b"^C\r\n")
    prompt.wait_for_text(b"cambium> ")
    prompt.type(b"abc")
    prompt.wait_for_text(b"abc")
    prompt.send(signal.SIGINT)
    prompt.wait_for_text(b"^C\r\n")
    prompt.wait_for_text(b"cambium> ")
    prompt.type(b"\x04")
    prompt.finish(0)


def cancels_a_query(program):
    """Ctrl-c during a query, twice in one session."""
    prompt = Prompt(program, controls=True)
    yield prompt
    prompt.begin()
    for _ in range(2):
        prompt.enter(SLOW)
        prompt.type(b"\x03")
        prompt.wait_for_text(b"The line was cancelled.")
        prompt.begin()
    prompt.type(b"Item count\r")
    prompt.wait_for_text(b"1 row")
    prompt.begin()
    prompt.type(b"\x04")
    prompt.finish(0)


def ends_at_the_second_interruption(program):
    """A line that cannot be cancelled, because it waits for a terminal that is full: the value of Memo/1 is longer than its buffer."""
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    prompt.enter(b"show Memo/1")
    prompt.wait(lambda: not select.select([], [prompt.terminal], [], 0)[1], "the terminal is full")

    def has_ended():
        prompt.send(signal.SIGINT)
        return prompt.process.poll() is not None

    prompt.wait(has_ended, "the end of the prompt")
    prompt.finish(-signal.SIGINT)


def stops_and_continues(program):
    """SIGTSTP, ctrl-z and SIGSTOP stop the prompt, and SIGCONT continues it."""
    prompt = Prompt(program)
    yield prompt
    prompt.begin()
    stops = [lambda: prompt.send(signal.SIGTSTP), lambda: prompt.type(b"\x1a"), lambda: prompt.send(signal.SIGSTOP)]
    for count, stop in enumerate(stops, start=1):
        line = b"cambium> " + count * b"x"
        prompt.type(b"x")
        prompt.wait_for_text(b"x")
        stop()
        prompt.wait_for_stop()
        # A prompt that was stopped by SIGSTOP could not restore the terminal, so the shell does this.
        assert count == len(stops) or not prompt.is_raw(), "the terminal has other settings than before"
        termios.tcsetattr(prompt.terminal, termios.TCSANOW, prompt.settings)
        prompt.send(signal.SIGCONT)
        prompt.wait_for_text(line)
        prompt.wait(prompt.is_raw, "the settings of the prompt")
    prompt.type(b"\x03\x04")
    prompt.finish(0)


def run(program, name, numbers):
    scenario = globals()[name](program, *numbers)
    prompt = next(scenario)
    try:
        for _ in scenario:
            pass
        print("ok")
    except AssertionError as error:
        print(f"{error}; the terminal showed {prompt.text[-500:]!r}")
    finally:
        prompt.process.kill()
        prompt.process.wait()


run(sys.argv[1], sys.argv[2], [int(number) for number in sys.argv[3:]])
