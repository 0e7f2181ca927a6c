#!/usr/bin/env python3
"""Checks notes, cosignatures and proofs of a Cambium log without Cambium: one file, and nothing but Python's standard library.

  verify.py note FILE TRUST                     a checkpoint that a log has signed
  verify.py proof FILE TRUST                    a proof that a transaction is in a log, or that it set a value
  verify.py consistency FILE --since OLD TRUST  a proof that a log only grew; OLD is the old root or a file with the old checkpoint

TRUST is --root HEX, --key VKEY, or --policy FILE. FILE may be - for standard input. The result is a JSON object. The exit code is 0 if
the claim holds, 1 if it does not, 65 if the file is malformed, 66 if it cannot be read, and 64 for wrong usage. The formats are those of
https://c2sp.org (signed-note, tlog-checkpoint, tlog-proof, tlog-cosignature, tlog-witness, tlog-policy) and of Docs/Formats/PROOFS.md.
"""
import argparse, base64, datetime, decimal, hashlib, json, math, os, struct, sys, uuid

decimal.getcontext().prec = 800  # more than the digits of any time
NOTE_MAX, PROOF_MAX, SIZE_MAX, FLOAT_END = 1_000_000, 64 << 20, 1 << 62, 2.0**128 - 2.0**103

class Malformed(Exception): """The file does not have the format that it should have."""
class Refused(Exception): """The claim does not hold, or its source is not trusted."""

def require(condition, flaw, kind=Malformed):
    if not condition: raise kind(flaw)

def sha256(*parts): return hashlib.sha256(b"".join(parts)).digest()

# Ed25519: RFC 8032, section 5.1. Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT_OF_MINUS_1 = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)

def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1: result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result

def decompress(data):
    sign, y = data[31] >> 7, int.from_bytes(data, "little") & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x * ROOT_OF_MINUS_1 % P if (x * x - square) % P else x
    if y >= P or (x * x - square) % P or (x == 0 and sign): return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P

BASE = decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

def is_signed(key, message, signature):
    a, r = (decompress(key), decompress(signature[:32])) if len(signature) == 64 else (None, None)
    if a is None or r is None or (s := int.from_bytes(signature[32:], "little")) >= L: return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    p, q = multiply(s, BASE), add(r, multiply(h, a))
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0

# Texts: lines that end with a line feed, numbers in decimal, and canonical base64.

class Lines:
    def __init__(self, data): self.data, self.at = data, 0
    rest = property(lambda self: self.data[self.at:])
    def next(self):
        end = self.data.find(b"\n", self.at)
        line, self.at = (self.data[self.at:end], end + 1) if end >= 0 else (None, self.at)
        return line
    def after(self, prefix):
        require((line := self.next() or b"").startswith(prefix), "a line does not begin with '%s'" % prefix.decode())
        return line[len(prefix):]
    def hashes(self):
        found = []
        while line := self.next():
            require(len(found) < 63, "a proof has at most 63 hashes")
            found.append(decoded(line, 32))
        require(line is not None, "no empty line follows the hashes")
        return found

def number(text):
    require(text and len(text) <= 19 and all(48 <= byte <= 57 for byte in text), "a number is missing")
    require((text == b"0" or text[:1] != b"0") and int(text) <= SIZE_MAX, "a number begins with 0, or is above 2^62")
    return int(text)

def decoded(text, size=None):
    try:
        data = base64.b64decode(text := text.encode() if isinstance(text, str) else text, validate=True)
    except (ValueError, TypeError):
        raise Malformed("a text is not base64")
    require(base64.b64encode(data) == text and size in (None, len(data)), "a text is not canonical base64 of the right length")
    return data

def utf8(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8")

def lines_of(data):
    require(len(data) <= NOTE_MAX and data.endswith(b"\n") and all(byte >= 32 or byte == 10 for byte in data), "a text is not in lines")
    utf8(data)
    return data

SPACES = {0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)}

def check_name(name):
    require(name and not any(ord(c) <= 32 or c == "+" or ord(c) in SPACES for c in utf8(name)), "a name of a key is wrong")

# Keys and notes: C2SP signed-note and tlog-cosignature.

class Key:  # of a log (kind 1) or a witness (kind 4)
    def __init__(self, text):
        parts = text.split(b"+", 2)
        require(len(text) <= 4096 and len(parts) == 3, "a key is NAME+ID+KEY")
        self.name, content = parts[0], decoded(parts[2], 33)
        check_name(self.name)
        self.kind, self.public, self.id = content[0], content[1:], sha256(self.name, b"\n", content)[:4]
        require(self.kind in (1, 4) and parts[1] == self.id.hex().encode(), "a key is of another kind, or its number is wrong")
    def verify(self, text, signature):
        if self.kind == 4:
            time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
            require(time < 1 << 63, "a cosignature has no time", Refused)
            text = b"cosignature/v1\ntime %d\n" % time + text
        return is_signed(self.public, text, signature)

class Note:
    def __init__(self, data):
        end = lines_of(data).rfind(b"\n\n")
        require(end >= 0, "no empty line precedes the signatures")
        self.text, lines, self.signatures = data[:end + 1], Lines(data[end + 2:]), []
        while lines.rest:
            name, _, signature = lines.after("— ".encode()).partition(b" ")
            check_name(name)
            content = decoded(signature)
            require(len(content) > 4 and len(self.signatures) < 100, "a signature is too short, or there are too many")
            self.signatures.append((name, content[:4], content[4:]))
        require(self.signatures, "nobody has signed")
    def signers(self, keys):
        """The keys that have signed. A wrong signature of one of them refuses the note; other signatures are ignored."""
        found = []
        for name, key_id, signature in self.signatures:
            for key in keys:
                if (key.name, key.id) == (name, key_id):
                    require(key.verify(self.text, signature), "a signature of a known key is wrong", Refused)
                    found.append(key)
        require(found, "no known key has signed", Refused)
        return found

class Head:
    """A checkpoint: a note, or only its text if nobody has signed."""
    def __init__(self, data):
        self.note = Note(data) if b"\n\n" in data else None
        lines = Lines(lines_of(self.note.text if self.note else data))
        self.origin, self.size, self.root = lines.next(), number(lines.next()), decoded(lines.next() or b"", 32)
        require(self.origin and all(lines.rest.split(b"\n")[:-1]), "the origin or another line is empty")

# Trust: a root, a key, or a policy (C2SP tlog-policy).

class Policy:
    def __init__(self, data):
        self.logs, self.members, self.quorum, names, used = [], [], (), {b"none": None}, set()
        require(len(data) <= 1 << 20 and (not data or data.endswith(b"\n")), "a policy has at most 1 MiB, in lines")
        require(all(byte in (9, 10) or byte >= 32 and byte != 127 for byte in data), "a policy has a control character")
        for line in data.split(b"\n"):
            words = [word for word in line.replace(b"\t", b" ").split(b" ") if word]
            if not words or words[0].startswith(b"#"): continue
            if words[0] == b"log" and 2 <= len(words) <= 3:
                self.logs.append(self.key(words[1], 1, self.logs))
            elif words[0] == b"quorum" and len(words) == 2:
                require(self.quorum == () and words[1] in names, "there is no such quorum, or more than one")
                self.quorum = names[words[1]]
            elif words[0] == b"witness" and 3 <= len(words) <= 4 or words[0] == b"group" and len(words) >= 4:
                if words[0] == b"witness":
                    member = self.key(words[2], 4, self.witnesses())
                else:
                    for name in words[3:]:
                        require(names.get(name) is not None and name not in used, "a member of a group is unknown, or used twice")
                        used.add(name)
                    count = {b"any": 1, b"all": len(words) - 3}.get(words[2]) or number(words[2])
                    require(1 <= count <= len(words) - 3, "a group needs more members than it has")
                    member = count, [names[name] for name in words[3:]]
                require(words[1] not in names and len(names) <= 1024, "a name cannot be defined")
                names[words[1]] = len(self.members)
                self.members.append(member)
            else:
                raise Malformed("a line of the policy is unknown")
        require(self.quorum != (), "a policy has no quorum")
    def witnesses(self): return [member for member in self.members if isinstance(member, Key)]
    @staticmethod
    def key(text, kind, others):
        key = Key(text)
        require(key.kind == kind and all(key.public != other.public for other in others), "a key is of the wrong kind, or given twice")
        return key
    def check(self, head):
        require(self.logs, "the policy names no log")
        signers, signed = head.note.signers(self.logs + self.witnesses()), []
        require(any(key.kind == 1 and key.name == head.origin for key in signers), "the log has not signed", Refused)
        for member in self.members:
            signed.append(member in signers if isinstance(member, Key) else sum(signed[i] for i in member[1]) >= member[0])
        require(self.quorum is None or signed[self.quorum], "too few witnesses have cosigned", Refused)

def is_root(text): return len(text) == 64 and set(text) <= set("0123456789abcdefABCDEF")

def trust(options, head):
    if options.root: return require(head.root.hex() == options.root.lower(), "the tree has another root", Refused)
    require(head.note, "nobody has signed the checkpoint", Refused)
    if options.policy is not None: return Policy(read(options.policy)).check(head)
    require(head.note.signers([Key(os.fsencode(options.key))])[0].name == head.origin, "the key is not of this log", Refused)

# The tree: RFC 6962 and RFC 9162, section 2.1.

def node(left, right): return sha256(b"\1", left, right)

def inclusion_root(index, size, leaf, path):
    require(0 <= index < size <= SIZE_MAX and len(path) <= 63, "the index is not in the tree", Refused)
    last = size - 1
    for sibling in path:
        require(last, "the proof is too long", Refused)
        if index & 1 or index == last:
            leaf = node(sibling, leaf)
            while not index & 1: index, last = index >> 1, last >> 1
        else:
            leaf = node(leaf, sibling)
        index, last = index >> 1, last >> 1
    require(not last, "the proof is too short", Refused)
    return leaf

def is_consistent(old, size, old_root, root, path):
    if old == 0 or old >= size:
        return not path and old <= size and old_root == (root if old else sha256()) and (size > 0 or root == sha256())
    place, last = old - 1, size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    if place and not path: return False
    a = b = path[0] if place else old_root
    for sibling in path[1:] if place else path:
        if not last: return False
        if place & 1 or place == last:
            a, b = node(sibling, a), node(sibling, b)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            b = node(b, sibling)
        place, last = place >> 1, last >> 1
    return not last and a == old_root and b == root

# The content of a transaction: Docs/Formats/PROOFS.md, "Openings".

class Reader:
    def __init__(self, data): self.data, self.at = data, 0
    def take(self, count):
        require(self.at + count <= len(self.data), "bytes are missing")
        self.at += count
        return self.data[self.at - count:self.at]
    def uint(self, width, limit=1 << 64):
        value = int.from_bytes(self.take(width), "little")
        require(value < limit, "a number is too large")
        return value
    def varint(self, limit=1 << 64):
        value = shift = 0
        while (byte := self.uint(1)) >= 128:
            value, shift = value | (byte & 127) << shift, shift + 7
            require(shift < 70, "a number has too many bytes")
        value |= byte << shift
        require((byte or not shift) and value < limit, "a number is too large, or has a zero at its end")
        return value
    def blob(self): return self.take(self.varint())
    def text(self, limit):
        return utf8(self.take(self.uint(4, limit + 1))) if self.uint(1, 2) else None
    def all(self, read):
        while self.at < len(self.data): yield read()

def time_text(year, seconds):
    try:
        whole = datetime.timedelta(seconds=math.floor(seconds))
        fraction = format(abs(seconds - math.floor(seconds)), "f")[1:].rstrip("0").rstrip(".")
        return (datetime.datetime(year, 1, 1) + whole).isoformat() + fraction + "Z"
    except OverflowError:
        raise Malformed("a time is not in the years 1 to 9999")

def transaction(leaf):
    reader = Reader(leaf)
    found = {"transaction": reader.uint(8), "time": time_text(1970, decimal.Decimal(struct.unpack("<q", reader.take(8))[0]) / 10**6)}
    for name, limit in (("actor", 1024), ("message", 64_000), ("request", 256)): found[name] = reader.text(limit)
    require(len(leaf) - reader.at in (0, 8, 16, 24), "an envelope has a wrong length")
    return found

def leaf_of(opening): return sha256(b"\0", decoded(opening["envelope"]), decoded(opening["commitment"], 32))

WIDTHS = {"bool": "?", "int16": "<h", "int32": "<i", "int64": "<q", "float": "<f", "double": "<d", "date": "<d", "uuid": "16s"}
# The types of the tags of values in ops, from 1.
TAGS = "bool bool int float double decimal string data date uuid uri json".split()

def assigned(reader, type_name):
    """A value of an op, as the bytes of a column; None if it is null."""
    tag = reader.uint(1, 13)
    if tag and type_name: require(TAGS[tag - 1] == ("int" if type_name[:3] == "int" else type_name), "a value has another type", Refused)
    if tag in (0, 1, 2): return bytes([tag - 1]) if tag else None
    if tag == 3:
        found = (zigzag := reader.varint()) >> 1 ^ -(zigzag & 1)
        return struct.pack(WIDTHS[type_name], found) if type_name else b""
    return reader.take({4: 4, 5: 8, 9: 8, 10: 16}.get(tag) or reader.varint()) if tag in (4, 5, 9, 10) else reader.blob()

def shown(data, type_name):
    found = struct.unpack(WIDTHS[type_name], data)[0] if data is not None and type_name in WIDTHS else data
    if found is None or type_name in ("bool", "int16", "int32", "int64", "double"): return found
    require(type(found) is not float or math.isfinite(found), "a number is not finite")
    if type_name == "float":  # the fewest digits that read back to the same number, as for dates
        near = (float("%.*g" % (count, found)) for count in range(1, 10))
        return next(each for each in near if abs(each) < FLOAT_END and struct.pack("<f", each) == data)
    if type_name == "date": return time_text(2001, decimal.Decimal(repr(found)))
    if type_name == "decimal":
        sign, digits, power = "-" * (data[0] - 1), str(int.from_bytes(data[2:], "big")), int.from_bytes(data[1:2], "big", signed=True)
        plain = digits + "0" * power if power >= 0 else "%s.%s" % ((whole := digits.zfill(1 - power))[:power], whole[power:])
        return (sign + ("%sE%d" % (digits, power) if len(digits) + power > 60 or power < -58 else plain),)  # a number with all its digits
    if type_name == "data": return base64.b64encode(data).decode()
    if type_name == "json": return (json_of(data), utf8(data))[1:]
    return str(uuid.UUID(bytes=data)).upper() if type_name == "uuid" else utf8(data)

def json_of(data):
    """JSON without repeated members. A number that is no integer of at most 20 digits becomes a tuple, which no member may be."""
    def refuse(text): raise Malformed("%s is not JSON" % text)
    def members(pairs): return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a repeated member")
    def integer(text): return int(text) if len(text) <= 20 and text != "-0" else (text,)
    found = json.loads(utf8(data), object_pairs_hook=members, parse_int=integer, parse_float=lambda text: (text,), parse_constant=refuse)
    json.dumps(found, ensure_ascii=False).encode()  # refuses half a surrogate pair
    return found

def whole(found, name):
    require(type(found[name]) is int and 0 <= found[name] < 1 << 64, "a member is not a number")
    return found[name]

def path_of(found):
    require(type(found["path"]) is list and len(found["path"]) <= 63, "a path is not a list of hashes")
    return [decoded(text, 32) for text in found["path"]]

def piece(opening, kinds):
    """The piece that an opening shows, after a check that the commitment contains it."""
    part, commitment = opening["opening"], decoded(opening["commitment"], 32)
    require(whole(part, "kind") in kinds, "a piece is of another kind", Refused)
    place, payload, path = (whole(part, "piece"), whole(part, "pieces")), decoded(part["payload"]), path_of(part)
    root = inclusion_root(*place, sha256(b"\0", decoded(part["salt"], 16), bytes([part["kind"]]), payload), path)
    require(root == commitment, "the changes are others", Refused)
    return part["kind"], Reader(payload)

def value(opening, head, index):
    """What the piece of an opening sets, by the names of a schema of the same log."""
    schema, operation = opening["schema"], whole(opening, "operation")
    require(type(opening["object"]) is type(opening["property"]) is str, "the object or the property is no text")
    kind, reader = piece(opening, (0, 1))
    root = inclusion_root(whole(schema, "index"), head.size, leaf_of(schema), path_of(schema))
    require(root == head.root and schema["index"] <= index, "the schema is not in the log", Refused)
    names, (entity_name, _, serial) = piece(schema, (2,))[1], opening["object"].partition("/")
    rows = names.all(lambda: (names.varint(), names.varint(), utf8(names.blob()), names.varint(), utf8(names.blob()), utf8(names.blob())))
    wanted = [row for row in rows if (row[2], row[4]) == (entity_name, opening["property"])]
    require(wanted, "the schema does not state these names", Refused)
    (root, entity, _, number_wanted, _, type_name), found = wanted[0], []
    def column(width):
        return (reader.take(width) if width else reader.blob()) if reader.uint(1, 2) else None

    if kind == 0:
        code = reader.uint(1)
        require(code in (0x22, 0x23), "the op sets no value", Refused)
        places = reader.varint(), reader.varint()
        entities = (reader.varint() if code == 0x22 else entity,)
        for _ in range(reader.varint()):
            prop = reader.varint()
            found.append((0, places[0], *entities, places[1], prop, assigned(reader, type_name if prop == number_wanted else None)))
        require(reader.at == len(reader.data), "bytes follow the op")
    else:
        own, _, known, count = reader.varint(), reader.uint(1, 4), reader.varint(), reader.varint()
        columns = [(reader.varint(), reader.uint(1, 17)) for _ in range(known + count)]
        for row, (number_of, cells) in enumerate(reader.all(lambda: (reader.varint(), [column(width) for _, width in columns]))):
            found += [(row, root, own, number_of, prop, cell) for (prop, _), cell in zip(columns[known:], cells[known:])]
    match = [row[5] for row in found if (*row[:3], str(row[3]), row[4]) == (operation, root, entity, serial, number_wanted)]
    require(match, "the changes do not set this value", Refused)
    names = {"object": opening["object"], "property": opening["property"]}
    return {**names, "value": shown(match[-1], type_name), "schema": schema["index"] + 1}

def read(path):
    data = sys.stdin.buffer.read(PROOF_MAX + 1) if path == "-" else open(path, "rb").read(PROOF_MAX + 1)
    require(len(data) <= PROOF_MAX, "the file is too large")
    return data

def check_note(options):
    trust(options, head := Head(read(options.file)))
    return head, {"claim": "signed"}

def check_proof(options):
    lines = Lines(read(options.file))
    require(lines.next() == b"c2sp.org/tlog-proof@v1", "the file is not a proof")
    extra, index = decoded(lines.after(b"extra ")), number(lines.after(b"index "))
    path, head = lines.hashes(), Head(lines.rest)
    try:
        opening = json_of(extra)
        leaf, found = leaf_of(opening), transaction(decoded(opening["envelope"]))
        trust(options, head)
        require(inclusion_root(index, head.size, leaf, path) == head.root, "the proof does not hold", Refused)
        require(found["transaction"] == index + 1, "the leaf states another number", Refused)
        claim = {"claim": "set", **value(opening, head, index)} if "opening" in opening else {"claim": "included"}
        return head, {**claim, **found}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, struct.error):
        raise Malformed("the content of the transaction is malformed")

def check_consistency(options):
    lines = Lines(read(options.file))
    old, path, head = number(lines.after(b"old ")), lines.hashes(), Head(lines.rest)
    trust(options, head)
    root = bytes.fromhex(options.since) if is_root(options.since) else None
    if not root:
        old_head = Head(read(options.since))
        if not options.root: trust(options, old_head)
        require((old_head.size, old_head.origin) == (old, head.origin), "the old checkpoint is of another size or log", Refused)
        root = old_head.root
    require(is_consistent(old, head.size, root, head.root, path), "the tree does not continue the old one", Refused)
    return head, {"claim": "consistent", "oldSize": old}

def say(text):
    data = text.encode() + b"\n"
    while data: data = data[os.write(1, data):]

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = {"note": check_note, "proof": check_proof, "consistency": check_consistency}
    parser.add_argument("kind", choices=commands)
    for name in ("file", "--since"): parser.add_argument(name)
    source = parser.add_mutually_exclusive_group(required=True)
    for name in ("--root", "--key", "--policy"): source.add_argument(name)
    try:
        options = parser.parse_args()
        if options.root is not None and not is_root(options.root): parser.error("a root has 64 hexadecimal digits")
        if (options.since is not None) != (options.kind == "consistency"): parser.error("--since belongs to 'consistency'")
    except SystemExit as end:
        return 64 if end.code else 0
    try:
        head, found = commands[options.kind](options)
    except Refused as flaw:
        say(json.dumps({"ok": False, "reason": str(flaw)}))
        return 1
    except (Malformed, OSError) as flaw:
        print("verify.py: %s" % flaw, file=sys.stderr)
        return 65 if isinstance(flaw, Malformed) else 66
    tree = {"origin": utf8(head.origin), "size": head.size, "root": head.root.hex()}
    texts = [(name, each[0] if type(each) is tuple else json.dumps(each, ensure_ascii=False)) for name, each in {**found, **tree}.items()]
    say("{%s}" % ", ".join(['"ok": true'] + ['"%s": %s' % text for text in texts]))
    return 0

if __name__ == "__main__":
    sys.exit(main())
