#!/usr/bin/env python3
"""Keeps a table of a PostgreSQL database equal to the objects of a Cambium store.

    feed.py PROGRAM STORE CONNECTION [--follow]

PROGRAM is the command line `cambium`, and CONNECTION a connection string of psql, such as `dbname=shop`. Docs/Guides/Feed.md explains the
script. It needs psql and Python's standard library.
"""

import json
import subprocess
import sys

TABLES = """
CREATE TABLE IF NOT EXISTS cambium_position (number bigint NOT NULL);
INSERT INTO cambium_position SELECT 0 WHERE NOT EXISTS (SELECT FROM cambium_position);
CREATE TABLE IF NOT EXISTS cambium_objects (id text PRIMARY KEY, entity text NOT NULL, body json NOT NULL);
"""

# The check fails if another process has fed this transaction, or if a transaction is missing.
POSITION = """
DO $$ BEGIN
    IF (SELECT number FROM cambium_position FOR UPDATE) <> {before} THEN RAISE EXCEPTION 'the position is not {before}'; END IF;
END $$;
UPDATE cambium_position SET number = {number};
"""


def quoted(text):
    """Returns a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def statement(text, line):
    """Returns the statement for one changed object. The database reads the line itself, so numbers keep all of their digits."""
    if line["after"] is None:
        return f"DELETE FROM cambium_objects WHERE id = {quoted(line['before']['_id'])};\n"
    return (
        "INSERT INTO cambium_objects SELECT line->'after'->>'_id', line->'source'->>'table', line->'after' "
        f"FROM (SELECT {quoted(text.rstrip())}::json AS line) AS event "
        "ON CONFLICT (id) DO UPDATE SET entity = excluded.entity, body = excluded.body;\n"
    )


def feed(program, store, connection, *options):
    psql = ["psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", connection]
    subprocess.run(psql, input=TABLES, text=True, check=True, stderr=subprocess.DEVNULL)
    query = [*psql, "--no-align", "--tuples-only", "--command", "SELECT number FROM cambium_position"]
    position = int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)
    changes = [program, "changes", store, "--from", str(position + 1), "--format", "debezium", *options]
    with subprocess.Popen(changes, stdout=subprocess.PIPE, text=True) as source:
        with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as target:
            for text in source.stdout:
                line = json.loads(text)
                if line.get("status") == "BEGIN":
                    number, count = int(line["id"]), 0
                    target.stdin.write("BEGIN;\n" + POSITION.format(before=number - 1, number=number))
                elif line.get("status") == "END":
                    if count != line["event_count"]:
                        sys.exit(f"feed.py: transaction {number} has {count} of {line['event_count']} lines")
                    target.stdin.write("COMMIT;\n")
                    target.stdin.flush()
                else:
                    target.stdin.write(statement(text, line))
                    count += 1
    # 66 from cambium means that the transaction was retired, or does not exist.
    sys.exit(source.returncode or target.returncode)


if __name__ == "__main__":
    feed(*sys.argv[1:])
