#!/usr/bin/env python3
"""Compares the answers of Cambium with those of SQLite.

    compare_queries.py RUNNER DIRECTORY [SEED [COMPARISONS [PEOPLE]]]

RUNNER is the program of Tests/QueryRunner. Random data is imported into a store in DIRECTORY, half of it is changed, and a copy of each of
the two moments is made in SQLite. Random questions are asked about both moments: with all plans, and with scans only; of a graph that was
kept, and of one that was read from the log. Prints each difference with its seed, and exits with 1 if there is one."""
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

DIFFERENCES_MAX = int(os.environ.get("CAMBIUM_DIFFERENCES", "10"))
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
    print(f"seed {seed}: {json.dumps(request, ensure_ascii=False)}")
    for key in expected:
        if key not in actual:
            return print(f"    {actual}")
        if isinstance(expected[key], list):
            for index, (left, right) in enumerate(zip(expected[key], actual[key])):
                if left != right:
                    print(f"    first difference at {index}")
                    break
            missing = [each for each in expected[key] if each not in actual[key]][:6]
            more = [each for each in actual[key] if each not in expected[key]][:6]
            print(f"    {key}: {len(expected[key])} expected, {len(actual[key])} found; missing {missing}; not expected {more}")
        elif expected[key] != actual[key]:
            print(f"    {key}: expected {expected[key]}, found {actual[key]}")


def main(program, directory, seed="1", wanted="20000", count="150"):
    runner = Runner(program)
    total, differing, number = 0, 0, int(seed)
    while total < int(wanted) and differing < DIFFERENCES_MAX:
        part = min(COMPARISONS_OF_DATA, int(wanted) - total)
        compared, found = compare(runner, number, part, int(count), os.path.join(directory, "queries"))
        total, differing, number = total + compared, differing + found, number + 1
    print(f"{total} answers compared with SQLite, {differing} differences, seeds {seed} to {number - 1}")
    return 1 if differing else 0


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
