#!/usr/bin/env python3
"""Asks doltlite for the histories that Sources/Bench/Histories.swift measures: bench_histories.py WORK

doltlite is SQLite with the version control of Dolt. A table of 10,000 objects gets 2,000 and then 8,000 commits, each with one changed
value. Ten of the changes are of the object that is asked for. Prints the median duration of many runs in this process. PRODUCT is the
program of the benchmarks. If it is given, its step 'histories' runs first, and the ratios of both are printed."""
import doltlite  # Loads its library in place of SQLite's, so it comes first.
import os
import sqlite3
import statistics
import subprocess
import sys
import time

OBJECTS = 10_000
COMMITS = [2000, 8000]
ASKED = "item 7"
QUESTIONS = {
    "history of one object": f"SELECT * FROM dolt_diff_item WHERE to_key = '{ASKED}'",
    "blame of an object": f"SELECT * FROM dolt_blame_item WHERE key = '{ASKED}'",
}


# The figures of the product, by workload and subject.
ours = {}


def emit(workload, commits, value, unit):
    print(f"R\tA.{workload}\tdoltlite {doltlite.__version__}, {commits} commits\t{value}\t{unit}", flush=True)
    own = ours.get((f"A.{workload}", f"Cambium, {commits} commits"))
    if own:
        ratio = own / value if unit == "/s" else value / own
        print(f"R\tA.{workload}, times faster than doltlite\tCambium, {commits} commits\t{ratio}\tx", flush=True)


def ask_product(work):
    if "PRODUCT" not in os.environ:
        return
    lines = subprocess.run([os.environ["PRODUCT"], work, work, "histories"], check=True, capture_output=True, text=True).stdout
    print(lines, end="", flush=True)
    for line in lines.splitlines():
        _, workload, subject, value, _ = line.split("\t")
        ours[workload, subject] = float(value)


def milliseconds(run_count, ask):
    durations = []
    for run in range(run_count):
        start = time.perf_counter()
        ask(run)
        durations.append((time.perf_counter() - start) * 1e3)
    return statistics.median(durations)


def made(path, commits):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("CREATE TABLE item(key TEXT PRIMARY KEY, price INTEGER, note TEXT)")
    base.execute("BEGIN")
    base.executemany("INSERT INTO item VALUES(?, ?, NULL)", ((f"item {number}", number) for number in range(OBJECTS)))
    base.execute("COMMIT")
    base.execute("SELECT dolt_commit('-A', '-m', 'insert')").fetchall()
    start = time.perf_counter()
    for number in range(commits):
        key = ASKED if number % (commits // 10) == 0 else f"item {1000 + number % 9000}"
        base.execute("UPDATE item SET price = ? WHERE key = ?", (OBJECTS + number, key))
        base.execute("SELECT dolt_commit('-A', '-m', 'set')").fetchall()
    emit("small transactions", commits, commits / (time.perf_counter() - start), "/s")
    return base


def measure(base, commits):
    for name, question in QUESTIONS.items():
        answer = base.execute(question).fetchall()
        if len(answer) != (11 if name.startswith("history") else 1):
            sys.exit(f"FATAL {name}: {len(answer)} rows")
        emit(f"{name}, p50", commits, milliseconds(20, lambda _: base.execute(question).fetchall()), "ms")
    hashes = [row[0] for row in base.execute("SELECT commit_hash FROM dolt_log")]
    moment = lambda run: base.execute(f"SELECT * FROM dolt_at_item('{hashes[run * 7919 % commits]}') WHERE key = '{ASKED}'").fetchall()
    emit("one object at a random moment, p50", commits, milliseconds(20, moment), "ms")
    undo = lambda run: base.execute("SELECT dolt_revert(?)", (hashes[5 + 2 * run],)).fetchall()
    emit("undo of a small transaction, p50", commits, milliseconds(10, undo), "ms")


work = sys.argv[1]
ask_product(work)
for count in COMMITS:
    file = os.path.join(work, f"doltlite-{count}.db")
    if os.path.exists(file):
        os.remove(file)
    store = made(file, count)
    measure(store, count)
    store.close()
    os.remove(file)
