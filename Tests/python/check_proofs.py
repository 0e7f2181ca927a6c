#!/usr/bin/env python3
"""Judges many notes and proofs with Docs/Formats/verify.py in one process.

`python3 check_proofs.py VERIFY < CASES` reads a JSON object a line: {"kind","file","root"|"key"|"policy","since"}, where the file is
base64, and the policy is the text of the file. It prints a letter for each case: + (holds), - (does not hold), ! (malformed)."""
import argparse
import base64
import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("verify", sys.argv[1])
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
commands = {"note": verify.check_note, "proof": verify.check_proof, "consistency": verify.check_consistency}
files = {}
verify.read = files.__getitem__
verdicts = []
for line in sys.stdin:
    case = json.loads(line)
    files["file"], files["policy"] = base64.b64decode(case["file"]), (case.get("policy") or "").encode()
    options = argparse.Namespace(file="file", root=case.get("root"), key=case.get("key"), since=case.get("since"),
                                 policy="policy" if "policy" in case else None)
    try:
        commands[case["kind"]](options)
        verdicts.append("+")
    except verify.Refused:
        verdicts.append("-")
    except verify.Malformed:
        verdicts.append("!")
print("".join(verdicts))
