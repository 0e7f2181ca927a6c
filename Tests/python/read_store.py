#!/usr/bin/env python3
"""Lists the transactions of a Cambium store and verifies it: another reader of the format, written from Docs/Formats/FORMAT.md alone.

`python3 read_store.py STORE` prints a JSON object a line for each transaction, then {"transactions":n,"root":hex,"verdict":...}.
If a store is corrupt, it prints the transactions that verify, and a message on stderr, and exits with 1. It never writes to the store."""
import hashlib
import json
import os
import re
import struct
import sys
import uuid
from functools import reduce
from itertools import accumulate

HEADER, ONES = 96, 0xFFFFFFFF


def require(condition, message):
    if not condition:
        raise ValueError(message)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# CRC-32C. Without `mask` it is linear in the state before and the bytes.
TABLE = list(range(256))
for _ in range(8):
    TABLE = [entry >> 1 ^ (0x82F63B78 if entry & 1 else 0) for entry in TABLE]


def crc(data, state=ONES, mask=ONES):
    for byte in data:
        state = TABLE[(state ^ byte) & 255] ^ state >> 8
    return state ^ mask


def apply(tables, state):
    return tables[0][state & 255] ^ tables[1][state >> 8 & 255] ^ tables[2][state >> 16 & 255] ^ tables[3][state >> 24]


def zero_byte_powers():
    """For k = 0, 1, ...: the effect of 2^k zero bytes on each byte of a state. So the CRC of a range can be computed from two prefixes."""
    powers, columns = [], [crc(b"\0", 1 << bit, 0) for bit in range(32)]
    for _ in range(31):
        powers.append([reduce(lambda table, column: table + [entry ^ column for entry in table], columns[byte:byte + 8], [0])
                       for byte in range(0, 32, 8)])
        columns = [apply(powers[-1], column) for column in columns]
    return powers


def lz4_block(data, size):
    reader, out = Reader(data), bytearray()

    def extended(length):
        byte = 255 if length == 15 else 0
        while byte == 255:
            byte = reader.u8()
            length += byte
        return length

    while True:
        token = reader.u8()
        out += reader.take(extended(token >> 4))
        if reader.at == len(data):
            require(len(out) == size, "LZ4: a block whose size differs from that in the region")
            return bytes(out)
        back = reader.uint(2)
        length, start = extended(token & 15) + 4, len(out) - back
        require(back > 0 <= start and len(out) + length <= size, "LZ4: a bad match")
        piece = out[start:start + length]
        out += (piece * (length // len(piece) + 1))[:length]  # a match may overlap what it makes


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        start, self.at = self.at, self.at + count
        require(self.at <= len(self.data), "bytes are missing")
        return self.data[start:self.at]

    def uint(self, width):
        return int.from_bytes(self.take(width), "little")

    def u8(self, limit=255):
        value = self.take(1)[0]
        require(value <= limit, "an unknown code, %d" % value)
        return value

    def varint(self):
        value, shift, byte = 0, 0, 128
        while byte >= 128 and shift < 70:
            byte = self.u8()
            value, shift = value | (byte & 127) << shift, shift + 7
        require(byte < 128 and (byte or shift == 7) and value < 1 << 64, "a varint of over 64 bits, or with a zero at its end")
        return value

    def blob(self):
        return self.take(self.varint())

    def text(self):
        return str(self.blob(), "utf-8")

    def repeat(self, read):
        return [read() for _ in range(self.varint())]

    def id(self):
        return "%d/%d" % (self.varint(), self.varint())

    def value(self):
        tag = self.u8(12)
        if tag <= 2:
            return (None, False, True)[tag]
        if tag in (4, 5, 9):
            return struct.unpack("<f" if tag == 4 else "<d", self.take(4 if tag == 4 else 8))[0]
        if tag == 10:
            return str(uuid.UUID(bytes=self.take(16))).upper()
        if tag == 3:
            return (number := self.varint()) >> 1 ^ -(number & 1)
        return self.blob().hex() if tag in (6, 8) else self.text()

    def serials(self):
        return sum(count for _, count in self.repeat(lambda: (self.varint(), self.varint())))

    def raw(self, count, width):
        return [self.uint(width) for _ in range(count)]

    def numbers(self, count, width):
        """A list of `count` numbers of `width` bytes, as unsigned ones."""
        if not count:
            return []
        encoding, mask = self.u8(3), (1 << 8 * width) - 1
        if encoding <= 1:
            return self.raw(1, width) * count if encoding else self.raw(count, width)
        number = self.uint(8) if encoding == 3 else 0  # signed or not, that is the same modulo 2^64
        base, stored = self.uint(8), self.u8(7)
        if encoding == 2:
            require(stored, "a list of offsets of width 0")
            return [base + step & mask for step in self.raw(count, stored)]
        return [number & mask for number in accumulate(self.raw(count - 1, stored), lambda a, b: a + base + b, initial=number)]

    def column(self, count):
        """(property, values): numbers, or bytes where the width is 0 or 16; None where null. The types are in the schema."""
        number, presence, present = self.varint(), self.u8(2), [True] * count
        if presence == 2:
            bits = int.from_bytes(self.take((count + 63) // 64 * 8), "little")
            require(bits >> count == 0, "presence bits behind the last object")
            present = [bit == "1" for bit in reversed(format(bits, "0%db" % count))]
        width = self.u8()
        require(width in (0, 1, 2, 4, 8, 16), "a column of width %d" % width)
        self.width = width  # of the last column, for its pieces
        if presence == 1:
            content = present = [None] * count
        elif width == 0:
            lengths = self.numbers(count, 4)
            packed, ends = self.u8(1), [0, *accumulate(lengths)]
            joined = self.take((ends[-1] + 1) // 2).hex().encode() if packed else self.take(ends[-1])
            require(joined[ends[-1]:] in (b"", b"0"), "half a byte that is not zero")
            content = [joined[start:end] for start, end in zip(ends, ends[1:])]
        elif width == 16:
            content = [self.take(16)] * count if self.u8(1) else [self.take(16) for _ in range(count)]
        else:
            content = self.numbers(count, width)
        return number, [value if here else None for here, value in zip(present, content)]

    def op(self):
        code = self.u8()
        require(1 <= code & 31 <= len(OPS), "an op of an unknown kind, %d" % code)
        name, fields = OPS[(code & 31) - 1].split(":")
        require(code >> 5 in ((1, 2, 3) if name == "clone" else (1,)), "an op of an unknown algorithm, %d" % code)
        more = {"upsert": self.upsert, "relink": self.relink, "clone": self.clone}.get(name, dict)
        return {"op": name, **{field: FIELDS[field](self) for field in fields.split()}, **more()}

    def upsert(self):
        op = {"entity": self.varint(), "kind": ("insert", "insert stub", "update", "fill")[self.u8(3)], "serials": self.serials()}
        for columns in ("identity", "columns"):
            op[columns] = [number for number, _ in self.repeat(lambda: self.column(op["serials"]))]
        return op

    def clone(self):
        op = {"roots": self.repeat(self.id)}
        flags = self.u8(15)
        if flags & 1:
            op["depth"] = self.varint()
        if flags & 2:
            op["keys"] = [self.text() for _ in range(4)]
        op["rules"] = self.repeat(lambda: (self.varint(), self.varint(), self.u8(6)))
        op["given"] = self.repeat(lambda: (self.varint(), self.varint(), self.value()))
        if flags & 4:
            op["time"] = self.uint(8)
        if flags & 8:
            op["seed"] = "%032x" % self.uint(16)
        op["copies"] = self.repeat(lambda: (self.varint(), self.varint(), self.repeat(lambda: (self.varint(), self.varint()))))
        return {**op, "set": "%016x" % self.uint(8)}

    def relink(self):
        op = {"root": self.varint(), "property": self.varint(), "objects": self.serials()}
        kind, count = self.u8(2), op["objects"]
        if kind == 0:
            return {**op, "kind": "to-one", "cleared": self.numbers(count, 8).count(0)}
        counts = self.numbers(count, 4)
        if kind == 1:
            removed, counts = self.numbers(sum(counts), 8), self.numbers(count, 4)
            return {**op, "kind": "unordered", "removed": len(removed), "added": len(self.numbers(sum(counts), 8))}
        return {**op, "kind": "ordered", "kept": sum(counts), "following": len(self.numbers(sum(self.numbers(count, 4)), 8))}


FIELDS = {"id": Reader.id, "text": Reader.text, "ids": lambda reader: reader.repeat(reader.id), "target": Reader.id, "entity": Reader.varint,
          "property": Reader.varint, "index": Reader.varint, "transaction": Reader.varint, "source": Reader.varint,
          "stub": lambda reader: reader.u8(1), "transactions": lambda reader: reader.repeat(lambda: (reader.varint(), reader.varint())),
          "values": lambda reader: dict(reader.repeat(lambda: (str(reader.varint()), reader.value()))),
          "schema": lambda reader: json.loads(reader.blob()), "sum": lambda reader: "%032x" % reader.uint(16)}
OPS = ["schema: schema", "insert: id entity values", "set: id values", "link: id property target",
       "link at: id property target index", "unlink: id property target", "move: id property target index",
       "delete: ids", "upsert:", "relink:", "digest: transaction sum", "clone:", "label: transaction text",
       "mark: id source stub", "undo: transactions"]


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def blob(text):
    return varint(len(text.encode())) + text.encode()


def grouped(head, entries):
    """Pieces of entries, each of which begins with the head, and ends with the entry with which it has 512 bytes."""
    piece = head
    for entry in entries:
        piece += entry
        if len(piece) >= 512:
            yield piece
            piece = head
    if piece != head:
        yield piece


def rows(reader):
    """The head and the rows of an upsert op."""
    reader.u8()
    entity, kind, serials, end = reader.varint(), reader.u8(3), [], 0
    for gap, count in reader.repeat(lambda: (reader.varint(), reader.varint())):
        serials += range(end + gap, end + gap + count)
        end += gap + count
    identity, own = (reader.repeat(lambda: (*reader.column(len(serials)), reader.width)) for _ in range(2))
    head = varint(entity) + bytes([kind]) + varint(len(identity)) + varint(len(own))

    def cell(value, width):
        if value is None:
            return b"\0"
        return b"\1" + (value if width == 16 else value.to_bytes(width, "little") if width else varint(len(value)) + value)

    columns = identity + own
    entries = (varint(serial) + b"".join(cell(values[index], width) for _, values, width in columns) for index, serial in enumerate(serials))
    return head + b"".join(varint(number) + bytes([width]) for number, _, width in columns), entries


def names(schema):
    """The attributes of each entity of a schema, those of its ancestors first."""
    for name, about in schema["entities"].items():
        line = [about]
        while "parent" in line[0]:
            line.insert(0, schema["entities"][line[0]["parent"]])
        for each in line:
            for attribute, more in each.get("attributes", {}).items():
                if "derived" not in more:
                    yield (varint(line[0]["number"]) + varint(about["number"]) + blob(name) + varint(more["number"]) + blob(attribute)
                           + blob(more["type"]))


def pieces(data):
    """(kind, bytes) of the pieces of a payload."""
    reader = Reader(data)
    while reader.at < len(data):
        start, kind = reader.at, data[reader.at] & 31
        if kind == 9:
            yield from ((1, piece) for piece in grouped(*rows(reader)))
            continue
        op = reader.op()
        yield 0, data[start:reader.at]
        if kind == 1:
            yield from ((2, piece) for piece in grouped(b"", names(op["schema"])))


def commitment_to(payload, salt):
    leaves = [sha256(b"\0", sha256(salt, struct.pack("<Q", index))[:16], bytes([kind]), piece)
              for index, (kind, piece) in enumerate([*pieces(payload)] or [(0, b"")])]
    return tree_root(leaves)


OPEN, SEALED, APART, RETIRED = 0, 1, 2, 3


class Segment:
    def __init__(self, name, data, store, kinds):
        self.name, self.data, self.store, self.interned = name, data, store, []
        start, self.kind, nothing, owner, self.number, self.created, self.seed, self.before, zeros, self.crc = struct.unpack_from(
            "<10sB5s16sQq16sI24sI", data)
        self.time = self.created
        require(crc(data[:92]) == self.crc, "the header does not verify")
        self.is_after_joint = True
        require(start == b"CAMBLOG1\x02\x00", "not a header of format 2")
        require(self.kind in kinds and not any(nothing + zeros), "a header of an unknown kind, or not here")
        require(owner == store.id_bytes and self.number == int(name[:20]), "a header of another store, or a number that differs from its name")

    def frame(self, at, checksum_of):
        """(checksum, start, end of the body) of the frame at an offset, or None if no frame verifies there."""
        reader = Reader(self.data, at)
        try:
            length = reader.varint()
            covered = struct.pack("<IQ", self.crc, at) + self.data[at:reader.at]
            checksum, start = reader.uint(4), reader.at
            fits = 3 <= length <= 1 << 30 and start + length <= len(self.data)
            return (checksum, start, start + length) if fits and checksum_of(covered, start, start + length) == checksum else None
        except ValueError:
            return None

    def durable_beyond(self, x):
        """Whether a frame after x was written when the log was durable beyond x. Tries every offset."""
        powers, states = zero_byte_powers(), list(accumulate(self.data[x:], lambda old, byte: crc([byte], old, 0), initial=0))

        def checksum(at, covered, start, end):
            if at - Reader(self.data, start).varint() <= x:
                return None  # says nothing, so it does not matter whether it verifies
            state = crc(covered, mask=0) ^ states[start - x]
            for power, tables in enumerate(powers):
                state = apply(tables, state) if end - start >> power & 1 else state
            return state ^ states[end - x] ^ ONES

        return any(self.frame(at, lambda *parts: checksum(at, *parts)) for at in range(x, len(self.data)))

    def plain(self, at):
        """(checksum, end, count, region) of the frame at an offset, or None if no frame verifies there."""
        found = self.frame(at, lambda covered, start, end: crc(covered + self.data[start:end]))
        return found and (found[0], found[2], *self.region(at, self.data[found[1]:found[2]]))

    def region(self, at, body):
        frame, region = Reader(body), bytearray()
        distance, count = frame.varint(), frame.varint()
        size = frame.varint() if count & 1 else 0
        require(distance <= at and size <= 1 << 31, "a distance or a region's size that cannot be")
        while len(region) < size:
            wanted, stored = min(1 << 20, size - len(region)), frame.varint()
            block = frame.take(stored >> 1)
            require(stored & 1 or len(block) == wanted, "a block whose size differs from that in the region")
            region += lz4_block(block, wanted) if stored & 1 else block
        if not count & 1:
            region = frame.take(len(body) - frame.at)
        require(frame.at == len(body), "the frame continues after its region")
        return count >> 1, bytes(region)

    def transactions(self, at, count, region, number):
        reader = Reader(region)
        if count == 0 and self.kind == OPEN:
            fits = not self.is_after_joint and region == struct.pack("<Qq", number - 1, self.time)
            require(fits, "a joint that does not fit the transactions before it")
            self.interned, self.is_after_joint = [], True
            return
        require(0 < count <= 1 << 22, "a frame without transactions, or with too many")
        self.is_after_joint = False
        if self.kind in (SEALED, RETIRED):
            self.interned, self.time = [], self.created
            self.seed = reader.take(16)
        for index in range(count):
            yield self.transaction(reader, number + index, at)
        require(reader.at == len(region), "the frame continues after its last transaction")

    def index(self):
        """(offset, checksum of the last frame before sealing) of a sealed segment's index, which is compared with its frames."""
        offset, check = struct.unpack_from("<QI", self.data, len(self.data) - 12)
        require(crc(struct.pack("<IQ", self.crc, offset)) == check, "the end of a sealed segment does not verify")
        found = self.plain(offset)
        require(found and found[1] == len(self.data) - 12 and found[2] == 0, "the index does not verify")
        reader, at, time, held = Reader(found[3]), HEADER, self.created, 0
        before = reader.uint(4)
        for _ in range(reader.varint()):
            length, transactions = reader.varint(), reader.varint()
            time += reader.varint()
            _, end, count, region = self.plain(at) or self.fail("a frame of a sealed segment does not verify")
            first = Reader(region, 16)
            if first.u8() & 128:
                first.u8()
            require((end - at, count, self.created + first.varint()) == (length, transactions, time), "the index does not fit")
            at, held = end, held + transactions
        joints = reader.repeat(lambda: (reader.varint(), reader.uint(4))[0])
        require(all(joints) and sum(joints) <= held, "joints that the segment cannot have")
        require(at == offset and reader.at == len(found[3]), "the index does not fit")
        return offset, before

    def fail(self, message):
        raise ValueError(message)

    def apart(self, reader, number):
        """The payload in a file of its own."""
        size, length, header, checksum = reader.varint(), reader.varint(), reader.uint(4), reader.uint(4)
        name = "%020d.ops" % number
        file = Segment(name, self.store.load("log", name), self.store, (APART,))
        require(len(file.data) == length and file.crc == header, "not the file of ops that the log names")
        at, payload, checksums = HEADER, b"", b""
        while at < length:
            one, at, count, region = file.plain(at) or self.fail("a frame of ops does not verify")
            require(count > 0, "a frame without ops")
            payload, checksums = payload + region, checksums + struct.pack("<I", one)
        require(len(payload) == size and crc(checksums) == checksum, "not the ops that the log names")
        return payload

    def text(self, reader, limit):
        entry = reader.varint()
        require(entry <= len(self.interned), "an unknown interned text")
        text = self.interned[entry - 1] if entry else reader.text()
        require(len(text.encode()) <= limit, "an actor or a message that is too long")
        if not entry and len(self.interned) < 65536:
            self.interned.append(text)
        return text

    def transaction(self, reader, number, at):
        """(the transaction for printing, its leaf in the tree)."""
        flags = reader.u8()
        more = reader.u8(1) if flags & 128 else 0
        require(more or not flags & 128, "a byte of flags that says nothing")
        require(flags & 4 or not more, "the digest of a request that is not there")
        time = reader.varint()
        lag = reader.varint() if flags & 64 else 0
        require(lag or not flags & 64, "a clock that was not behind")
        require(flags & 40 != 40, "ops that are redacted and in a file")
        self.time += time
        actor, message = (self.text(reader, limit) if flags & flag else None for flag, limit in ((1, 1024), (2, 65536)))
        request = reader.text() if flags & 4 else None
        require(len((request or "").encode()) <= 256, "a request id that is too long")
        digest = reader.take(16) if more else b""
        salt = reader.take(16) if flags & 16 else sha256(self.seed, struct.pack("<Q", number))[:16]
        payload, ops = None if flags & 8 else Reader(self.apart(reader, number) if flags & 32 else reader.blob()), None
        commitment = commitment_to(payload.data, salt) if payload else reader.take(32)
        if payload:
            ops = self.store.ops(payload)
        texts = [b"\0" if text is None else b"\1" + struct.pack("<I", len(text.encode())) + text.encode()
                 for text in (actor, message, request)]
        leaf = sha256(b"\0", struct.pack("<Qq", number, self.time), *texts, struct.pack("<Q", lag) if lag else b"", digest,
                      commitment)
        return {"transaction": number, "time": self.time, "actor": actor, "message": message, "request": request, "offset": at,
                "segment": self.name, "ops": ops}, leaf


def tree_root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256()
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\1", tree_root(leaves[:left]), tree_root(leaves[left:]))


class Store:
    def __init__(self, path):
        self.path, self.where, self.leaves = path, "", []  # where we are, for messages

    def load(self, *names):
        self.where = "/".join(names)
        with open(os.path.join(self.path, *names), "rb") as file:
            return file.read()

    def id(self):
        line = self.load("store.json")
        before, _, check = line.rpartition(b',"check"')
        require(re.fullmatch(rb':"[0-9a-f]{8}"}\n', check) and int(check[2:10], 16) == crc(before), "the check does not fit")
        about = json.loads(line)
        require(about["format"] in (1, 2), "format %r" % about["format"])
        return bytes.fromhex(about["store"])

    def head(self, store):
        """(sequence, first transaction of the segment, position) of the valid slot with the greatest sequence; zeros if no slot is valid."""
        best, data = (0, 0, 0), self.load("HEAD") if os.path.exists(os.path.join(self.path, "HEAD")) else b""
        for wanted, size in ((b"CAMBHEAD", 64), (b"CAMBHED2", 128)):
            for at in (0, size):
                slot = data[at:at + size]
                if len(slot) < size or slot[:8] != wanted or crc(slot[:-4]) != int.from_bytes(slot[-4:], "little"):
                    continue
                sequence, segment, position, last, closed, owner = struct.unpack_from("<5Q12s", slot, 8)
                fits = owner == store[:12] and sequence < 1 << 63 and sequence % 2 == at // size and closed <= 1
                if size == 128:
                    number, root, zeros = struct.unpack_from("<Q32s24s", slot, 60)
                    fits = fits and number <= last and (number > 0 or not any(root)) and not any(zeros)
                if fits:
                    best = max(best, (sequence, segment, position))
        return best

    def ops(self, payload):
        ops = []
        while payload.at < len(payload.data):
            ops.append(payload.op())
        return ops

    def receive(self, transaction):
        print(json.dumps(transaction, ensure_ascii=False, separators=(",", ":")))

    def read(self):
        self.id_bytes, checksum, verdict = self.id(), 0, "clean"
        _, head_segment, head_position = self.head(self.id_bytes)
        names = sorted(name for name in os.listdir(os.path.join(self.path, "log")) if re.fullmatch(r"\d{20}\.log", name))
        require(names, "no segments")
        has_head = not head_segment or "%020d.log" % head_segment in names
        covered, is_sealed = 0, False
        for name in names:
            if int(name[:20]) <= covered:
                continue  # an interrupted splitting or merging left it
            data, is_last = self.load("log", name), name == names[-1]
            durable = head_position if head_segment == int(name[:20]) else 0
            valid = len(data) >= HEADER and crc(data[:92]) == int.from_bytes(data[92:96], "little")
            if is_last and len(names) > 1 and not durable and not valid and len(data) <= HEADER:
                verdict, is_sealed = "torn creation", False
                break
            require(valid, "the header does not verify")
            segment, x = Segment(name, data, self, (OPEN, SEALED, RETIRED)), HEADER
            require(segment.number == len(self.leaves) + 1 and segment.before == checksum, "the segment does not continue the preceding one")
            stop, sealed_checksum = segment.index() if segment.kind in (SEALED, RETIRED) else (len(data), None)
            while x < stop and (found := segment.plain(x)):
                self.where = "log/%s at %d" % (name, x)
                checksum, end, count, region = found
                for shown, leaf in segment.transactions(x, count, region, len(self.leaves) + 1):
                    self.receive(shown)
                    self.leaves.append(leaf)
                x = end
            if segment.kind in (SEALED, RETIRED):
                require(x == stop, "a sealed segment that does not verify to its end")
                checksum, covered, is_sealed = sealed_checksum, len(self.leaves), True
                has_head = has_head or segment.number < head_segment <= covered  # it was merged
                continue
            is_sealed = False
            self.where = "log/%s at %d" % (name, x)
            require(not is_last or durable <= x, "HEAD says that the log was durable up to %d" % durable)
            if x < len(data):
                require(is_last, "a segment that is not the last one does not verify to its end")
                if any(data[x:]):
                    require(not segment.durable_beyond(x), "a frame behind it says that the log was durable beyond here")
                    verdict = "torn tail"
        require(not is_sealed, "a sealed segment that none follows")
        require(has_head, "the segment that HEAD names is missing")
        return {"transactions": len(self.leaves), "root": tree_root(self.leaves).hex(), "verdict": verdict}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_store.py STORE")
    STORE = Store(sys.argv[1])
    try:
        print(json.dumps(STORE.read(), separators=(",", ":")))
    except (OSError, ValueError, KeyError, struct.error) as error:
        sys.exit("read_store.py: %s: %s; the last transaction that verifies is %d" % (STORE.where, error, len(STORE.leaves)))
