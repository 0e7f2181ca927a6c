#!/usr/bin/env python3
"""Compares the answers of Cambium with those of SQLite.

    compare_queries.py RUNNER DIRECTORY [SEED [COMPARISONS [PEOPLE]]]

RUNNER is the program of Tests/QueryRunner. Random data is imported into a store in DIRECTORY, half of it is changed, and a copy of each of
the two moments is made in SQLite. Random questions are asked about both moments: with all plans, and with scans only; of a graph that was
kept, and of one that was read from the log. Each core makes and compares data sets of its own. Prints each difference with its seed, and
exits with 1 if there is one."""
import concurrent.futures
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "queries"))
from model import Data, database, schema  # noqa: E402
from questions import Questions  # noqa: E402

DIFFERENCES_MAX = 10
COMPARISONS_OF_DATA = 2000


class Runner:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"The runner ended at {json.dumps(request)}")
        return json.loads(line)

    def do(self, request):
        answer = self.ask(request)
        if answer:
            sys.exit(f"{str(request)[:300]}: {answer}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serials(runner):
    """The serials of all objects by their identities."""
    found = {}
    for entity in ("Person", "City", "Item", "Tag"):
        answer = runner.ask({"entity": entity, "select": ["id", "_id"]})
        found[entity] = dict(answer["rows"])
    return found


def load(runner, data, name):
    """Imports the data. Returns its copy in SQLite and its serials."""
    for entity, rows in data.imports():
        runner.do({"import": entity, "rows": rows})
    runner.do({"keep": name})
    known = serials(runner)
    return database(data, known), known


def same(expected, actual):
    """Whether two answers are equal. The order in a list of related values does not matter."""
    def sorted_lists(answer):
        return [[sorted(value, key=repr) if isinstance(value, list) else value for value in row] for row in answer]

    if "rows" in expected and "rows" in actual:
        return sorted_lists(normal(expected["rows"])) == sorted_lists(normal(actual["rows"]))
    return expected == actual


def normal(value):
    """Numbers as floating-point numbers if these are exact."""
    if isinstance(value, list):
        return [normal(each) for each in value]
    return float(value) + 0.0 if isinstance(value, (bool, int, float)) and float(value) == value else value


def compare(runner, seed, wanted, count, path):
    """Makes a data set and asks about it. Returns the numbers of comparisons and of differences."""
    chance = random.Random(seed)
    shutil.rmtree(path, ignore_errors=True)
    runner.do({"create": path, "schema": schema(chance)})
    data = Data(chance, count)
    moments = {"before": load(runner, data, "before")}
    earlier = Questions(chance, data, moments["before"][1])
    for entity, identities in data.change().items():
        runner.do({"delete": entity, "identities": identities})
    moments["after"] = load(runner, data, "after")
    later = Questions(chance, data, moments["after"][1])
    compared, differing = 0, 0
    while compared < wanted:
        name = chance.choice(["before", "after"])
        request, expected = (earlier if name == "before" else later).question()
        try:
            answer = expected(moments[name][0])
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            continue
        for plan in ("all", "scan"):
            graph = chance.choice([name, "replayed " + name])
            actual = runner.ask(request | {"plan": plan, "graph": graph})
            compared += 1
            if not same(answer, actual):
                differing += 1
                report(seed, request | {"plan": plan, "graph": graph}, answer, actual)
                break
        if differing >= DIFFERENCES_MAX:
            break
    return compared, differing


def report(seed, request, expected, actual):
    lines = [f"seed {seed}: {json.dumps(request, ensure_ascii=False)}"]
    for key in expected:
        if key not in actual:
            lines.append(f"    {actual}")
            break
        if isinstance(expected[key], list):
            for index, (left, right) in enumerate(zip(expected[key], actual[key])):
                if left != right:
                    lines.append(f"    first difference at {index}")
                    break
            missing = [each for each in expected[key] if each not in actual[key]][:6]
            more = [each for each in actual[key] if each not in expected[key]][:6]
            counts = f"{len(expected[key])} expected, {len(actual[key])} found"
            lines.append(f"    {key}: {counts}; missing {missing}; not expected {more}")
        elif expected[key] != actual[key]:
            lines.append(f"    {key}: expected {expected[key]}, found {actual[key]}")
    # One call, because several processes print.
    print("\n".join(lines), flush=True)


def compare_data_set(program, directory, seed, wanted, count):
    """Compares with a runner of its own. Returns the numbers of comparisons and of differences."""
    path = os.path.join(directory, f"queries-{seed}")
    runner = Runner(program)
    result = compare(runner, seed, wanted, count, path)
    runner.close()
    shutil.rmtree(path, ignore_errors=True)
    return result


def main(program, directory, seed="1", wanted="20000", count="150"):
    first, wanted = int(seed), int(wanted)
    parts = [min(COMPARISONS_OF_DATA, wanted - done) for done in range(0, wanted, COMPARISONS_OF_DATA)]
    total, differing = 0, 0
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as processes:
        jobs = [
            processes.submit(compare_data_set, program, directory, first + number, part, int(count)) for number, part in enumerate(parts)
        ]
        for job in concurrent.futures.as_completed(jobs):
            compared, found = job.result()
            total, differing = total + compared, differing + found
            if differing >= DIFFERENCES_MAX:
                processes.shutdown(wait=False, cancel_futures=True)
                break
    print(f"{total} answers compared with SQLite, {differing} differences, seeds {seed} to {first + len(parts) - 1}")
    return 1 if differing else 0


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
