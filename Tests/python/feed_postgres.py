#!/usr/bin/env python3
"""Feeds a PostgreSQL server with Docs/Feed/feed.py, kills the feeder many times, and compares the table with the export of the store.

    feed_postgres.py PROGRAM FEEDER STORE KILLS

Starts a server of its own in a temporary directory, without a port. Prints `equal N` for N objects, or `missing` if there is no server.
"""

import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 60


def server_folder():
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return folders[-1] if folders and shutil.which("psql") else None


class Server:
    def __init__(self, folder):
        self.folder, self.place = folder, tempfile.mkdtemp(prefix="feed-")
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.place, "postgres", "postgres")
        self.run("initdb", "--auth=trust", "--username=feeder", "--no-sync", f"{self.place}/data")
        options = f"-c listen_addresses='' -c fsync=off -k {self.place}"
        self.run("pg_ctl", "start", "--wait", "-D", f"{self.place}/data", "-l", f"{self.place}/log", "-o", options)
        self.connection = f"host={self.place} user=feeder dbname=postgres"

    def run(self, name, *arguments):
        subprocess.run([f"{self.folder}/{name}", *arguments], check=True, stdout=subprocess.DEVNULL, cwd="/", **self.user)

    def rows(self, query):
        command = ["psql", "--no-psqlrc", "--no-align", "--tuples-only", "--command", query, self.connection]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    def end(self):
        self.run("pg_ctl", "stop", "--wait", "--mode=immediate", "-D", f"{self.place}/data")
        shutil.rmtree(self.place)


def write(program, store, chance, step):
    """Commits one transaction: an insertion, a change, or a deletion."""
    kind = chance.randrange(4)
    arguments = ["insert", store, "Note", f"id={1000 + step}", f"title=it's {step}"]
    if step > 2 and kind == 1:
        arguments = ["set", store, f"Note:{1000 + chance.randrange(step)}", f"title=\\ {step}"]
    if step > 2 and kind == 2:
        arguments = ["delete", store, f"Note:{1000 + chance.randrange(step)}"]
    # The object may have been deleted, or never inserted. Then the command changes nothing.
    subprocess.run([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def main(program, feeder, store, kills):
    folder = server_folder()
    if folder is None:
        return print("missing")
    server, chance = Server(folder), random.Random(7)
    feed = ["python3", feeder, program, store, server.connection]
    try:
        for step in range(int(kills)):
            # The group contains the feeder's own processes, except the server.
            process = subprocess.Popen([*feed, "--follow"], start_new_session=True, stderr=subprocess.DEVNULL)
            # The writes take about as long as the feeder needs to start, so it is killed at any point of its work.
            for number in range(chance.randrange(1, 8)):
                write(program, store, chance, 8 * step + number)
            if chance.randrange(2):
                os.kill(process.pid, signal.SIGKILL)
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        deadline = time.monotonic() + SECONDS
        # A feeder fails while the session of its predecessor commits its last transaction.
        while subprocess.run(feed, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            if time.monotonic() > deadline:
                sys.exit("the feeder does not reach the end")
        found = [json.loads(row) for row in server.rows("SELECT body FROM cambium_objects ORDER BY id")]
        exported = subprocess.run([program, "export", store], capture_output=True, text=True, check=True).stdout
        expected = sorted((json.loads(row) for row in exported.splitlines()), key=lambda row: row["_id"])
        if sorted(found, key=lambda row: row["_id"]) != expected:
            sys.exit(f"the table differs: {len(found)} and {len(expected)} objects")
        print("equal", len(found))
    finally:
        server.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
