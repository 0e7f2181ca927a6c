#!/usr/bin/env python3
"""Lists the transactions of a Cambium store, and verifies it: a second reader, written from Docs/FORMAT.md alone.

    python3 read_store.py STORE

prints one JSON object a line for each transaction, then {"transactions":n,"root":hex,"verdict":...}. A damaged store gives a
message on stderr and exit code 1, behind the transactions that verify. Nothing is ever written. Standard library only.
"""
import array
import hashlib
import json
import os
import re
import struct
import sys
import uuid

HEADER = 96
ONES = 0xFFFFFFFF
MASK64 = (1 << 64) - 1


class Damage(Exception):
    """Bytes that are not as the format says."""


def require(condition, message):
    if not condition:
        raise Damage(message)


def sha256(*parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


# CRC-32C. The state is the register without the initial and the final xor, so it is linear in state and bytes.

def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = crc_table()


def crc_state(state, data):
    table = CRC
    for byte in data:
        state = table[(state ^ byte) & 255] ^ state >> 8
    return state


def crc(*parts):
    state = ONES
    for part in parts:
        state = crc_state(state, part)
    return state ^ ONES


class ZeroBytes:
    """Moves a CRC state over n zero bytes in O(log n), so that the CRC of any range follows from the CRCs of prefixes."""

    def __init__(self):
        columns = [crc_state(1 << bit, b"\0") for bit in range(32)]  # over 2^k zero bytes, for k = 0, 1, ...
        self.powers = []
        for _ in range(31):
            tables = []
            for shift in range(0, 32, 8):
                table = [0]
                for bit in range(8):
                    table += [entry ^ columns[shift + bit] for entry in table]
                tables.append(table)
            self.powers.append(tables)
            columns = [self.apply(tables, column) for column in columns]

    @staticmethod
    def apply(tables, state):
        a, b, c, d = tables
        return a[state & 255] ^ b[state >> 8 & 255] ^ c[state >> 16 & 255] ^ d[state >> 24]

    def move(self, state, count):
        for tables in self.powers:
            if not count:
                break
            if count & 1:
                state = self.apply(tables, state)
            count >>= 1
        return state


def lz4_block(data, size):
    """Decodes an LZ4 block that holds exactly `size` bytes."""
    def extended(length, at):
        if length == 15:
            while True:
                length += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        return length, at

    out, at = bytearray(), 0
    try:
        while True:
            token = data[at]
            literals, at = extended(token >> 4, at + 1)
            require(at + literals <= len(data) and len(out) + literals <= size, "LZ4: literals run over")
            out += data[at:at + literals]
            at += literals
            if at == len(data):
                break
            back = data[at] | data[at + 1] << 8
            length, at = extended(token & 15, at + 2)
            length += 4
            start = len(out) - back
            require(back > 0 and start >= 0 and len(out) + length <= size, "LZ4: bad match")
            piece = bytes(out[start:start + length])
            out += (piece * (length // len(piece) + 1))[:length]  # a match may overlap what it makes
    except IndexError:
        raise Damage("LZ4: the block ends too early") from None
    require(len(out) == size, "LZ4: the block has another size than the region says")
    return bytes(out)


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        end = self.at + count
        require(end <= len(self.data), "bytes are missing")
        part = self.data[self.at:end]
        self.at = end
        return part

    def rest(self):
        return self.take(len(self.data) - self.at)

    def uint(self, width):
        return int.from_bytes(self.take(width), "little")

    def i64(self):
        return int.from_bytes(self.take(8), "little", signed=True)

    def u8(self, limit=255):
        value = self.uint(1)
        require(value <= limit, "an unknown code, %d" % value)
        return value

    def varint(self):
        data, at, value = self.data, self.at, 0
        for shift in range(0, 70, 7):
            require(at < len(data), "a number is cut")
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                require((byte or not shift) and value <= MASK64, "a number that is not spelled as it has to be")
                self.at = at
                return value
        raise Damage("a number of more than 10 bytes")

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def blob(self):
        return self.take(self.varint())

    def text(self):
        return utf8(self.blob())

    def repeat(self, read):
        return [read() for _ in range(self.varint())]

    def finish(self, what):
        require(self.at == len(self.data), "%s goes on behind its end" % what)

    # Parts of ops (section 4).

    def id(self):
        return "%d/%d" % (self.varint(), self.varint())

    def decimal(self):
        data = self.blob()
        require(data and data[0] <= 2 and (len(data) == 1 if data[0] == 0 else 3 <= len(data) <= 18 and data[2]), "a bad decimal")
        tenfold = data[0] and int.from_bytes(data[2:], "big") % 10 == 0
        require(not tenfold or data[1] == 127, "a decimal with a trailing zero")
        return data.hex()

    def value(self):
        tag = self.u8(12)
        if tag <= 2:
            return (None, False, True)[tag]
        if tag in (4, 5, 9):
            return struct.unpack("<f", self.take(4))[0] if tag == 4 else struct.unpack("<d", self.take(8))[0]
        if tag == 10:
            return str(uuid.UUID(bytes=self.take(16))).upper()
        return {3: self.zigzag, 6: self.decimal, 8: lambda: self.blob().hex()}.get(tag, self.text)()

    def assignments(self):
        return dict(self.repeat(lambda: (str(self.varint()), self.value())))

    def serials(self):
        """The runs, as ranges."""
        runs, end = [], 0
        for _ in range(self.varint()):
            first = end + self.varint()
            end = first + self.varint()
            runs.append(range(first, end))
        return runs

    def numbers(self, count, width):
        """A list of `count` numbers of `width` bytes, as unsigned numbers."""
        if not count:
            return []
        encoding, mask = self.u8(3), (1 << 8 * width) - 1
        if encoding == 0:
            return self.raw(count, width)
        if encoding == 1:
            return [self.uint(width)] * count
        if encoding == 2:
            base, stored = self.i64(), self.u8(7)
            require(stored, "a list of offsets without bytes")
            return [(base + number) & mask for number in self.raw(count, stored)]
        number, base, stored = self.i64(), self.i64(), self.u8(7)
        result = [number & mask]
        for step in self.raw(count - 1, stored):
            number += base + step
            result.append(number & mask)
        return result

    def raw(self, count, width):
        data = self.take(count * width)
        if not width:
            return [0] * count
        return [int.from_bytes(data[at:at + width], "little") for at in range(0, len(data), width)]

    def column(self, count):
        """(property, values): numbers, or bytes where the width is 0 or 16; None where null. Types stand in the schema."""
        number, presence = self.varint(), self.u8(2)
        present = [presence == 0] * count
        if presence == 2:
            bits = int.from_bytes(self.take((count + 63) // 64 * 8), "little")
            require(bits >> count == 0, "presence bits behind the last object")
            present = [bits >> at & 1 == 1 for at in range(count)] if count < 64 else \
                [bit == "1" for bit in reversed(format(bits, "0%db" % count))]
        width = self.u8()
        require(width in (0, 1, 2, 4, 8, 16), "a column of width %d" % width)
        if presence == 1:
            return number, [None] * count
        if width == 16:
            same = self.u8(1)
            content = [self.take(16)] * count if same else [self.take(16) for _ in range(count)]
            zero = content if same else [bytes(16)] * count
        elif width:
            content, zero = self.numbers(count, width), [0] * count
        else:
            content, zero = self.strings(self.numbers(count, 4)), [b""] * count
        for is_present, value, null in zip(present, content, zero):
            require(is_present or value == null, "a null with a value")
        return number, [value if is_present else None for is_present, value in zip(present, content)]

    def strings(self, lengths):
        total = sum(lengths)
        if self.u8(1):
            packed = self.take((total + 1) // 2).hex()
            require(packed[total:] in ("", "0"), "half a byte that is not zero")
            joined = packed[:total].encode()
        else:
            joined = self.take(total)
        ends = 0
        return [joined[ends:(ends := ends + length)] for length in lengths]

    # Ops.

    def op(self):
        first = self.u8()
        kind = first & 31
        require(first >> 5 == 1 and 1 <= kind <= 11, "an unknown op, %d" % first)
        name = ("schema", "insert", "set", "link", "link at", "unlink", "move", "delete", "upsert", "relink", "digest")[kind - 1]
        op = {"op": name}
        if kind == 1:
            op["schema"] = json.loads(utf8(self.blob()))
        elif kind in (2, 3):
            op["id"] = self.id()
            if kind == 2:
                op["entity"] = self.varint()
            op["values"] = self.assignments()
        elif kind <= 7:
            op.update(id=self.id(), property=self.varint(), target=self.id())
            if kind in (5, 7):
                op["index"] = self.varint()
        elif kind == 8:
            op["ids"] = self.repeat(self.id)
        elif kind == 9:
            op.update(entity=self.varint(), kind=("insert", "insert stub", "update", "fill")[self.u8(3)])
            count = sum(map(len, self.serials()))
            identity = self.repeat(lambda: self.column(count)[0])
            op.update(serials=count, identity=identity, columns=self.repeat(lambda: self.column(count)[0]))
        elif kind == 10:
            self.relink(op)
        else:
            op.update(transaction=self.varint(), digest="%016x%016x" % tuple(reversed((self.uint(8), self.uint(8)))))
        return op

    def relink(self, op):
        op.update(root=self.varint(), property=self.varint())
        count = sum(map(len, self.serials()))
        kind = self.u8(2)
        op.update(kind=("to-one", "unordered", "ordered")[kind], objects=count)
        if kind == 0:
            targets = self.numbers(count, 8)
            op.update(set=sum(1 for target in targets if target), cleared=targets.count(0))
        elif kind == 1:
            for what in ("removed", "added"):
                op[what] = len(self.numbers(sum(self.numbers(count, 4)), 8))
        else:
            op["kept"] = sum(self.numbers(count, 4))
            op["following"] = len(self.numbers(sum(self.numbers(count, 4)), 8))


def utf8(data):
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise Damage("text that is not UTF-8: %s" % error) from None


def frame_region(body):
    """(number of transactions, region) of a frame's body; the distance is the caller's."""
    reader = Reader(body)
    reader.varint()
    count = reader.varint()
    require(count >= 2, "a frame without transactions")
    if not count & 1:
        return count >> 1, reader.rest()
    size = reader.varint()
    require(size <= 1 << 31, "a region of more than 2^31 bytes")
    region = bytearray()
    while len(region) < size:
        wanted, stored = min(1 << 20, size - len(region)), reader.varint()
        block = reader.take(stored >> 1)
        region += lz4_block(block, wanted) if stored & 1 else block
        require(stored & 1 or len(block) == wanted, "a block of another size than the region says")
    reader.finish("a region")
    return count >> 1, bytes(region)


class Tree:
    """RFC 6962 over leaves that come one after the other: the roots of the full subtrees, the largest first."""

    def __init__(self):
        self.count, self.roots = 0, []

    def add(self, leaf):
        self.roots.append(leaf)
        self.count += 1
        size = self.count
        while size % 2 == 0:
            right = self.roots.pop()
            self.roots.append(sha256(b"\1", self.roots.pop(), right))
            size //= 2

    def root(self):
        if not self.roots:
            return sha256()
        result = self.roots[-1]
        for left in reversed(self.roots[:-1]):
            result = sha256(b"\1", left, result)
        return result


class Segment:
    def __init__(self, name, data):
        self.name, self.data, self.number = name, data, int(name[:20])
        self.header = struct.unpack_from("<8sH6s16sQq16sI24sI", data) if len(data) >= HEADER else None
        self.valid = self.header is not None and crc(data[:92]) == self.header[9]
        self.torn = not self.valid and len(data) <= HEADER

    def open(self, store, previous_checksum):
        magic, version, zero, owner, number, self.time, self.seed, previous, zeros, self.header_crc = self.header
        require(magic == b"CAMBLOG1" and version == 1 and not any(zero + zeros), "not a segment of format 1")
        require(owner == store, "a segment of another store")
        require(number == self.number, "a segment of another number than its name")
        require(previous == previous_checksum, "the segment does not go on from the one before")
        self.interned = []

    def frame(self, at):
        """(checksum, start and end of the body) of the frame at an offset, or None where none verifies."""
        reader = Reader(self.data, at)
        try:
            length = reader.varint()
            spelled = self.data[at:reader.at]
            checksum, start = reader.uint(4), reader.at
            body = reader.take(length)
        except Damage:
            return None
        state = crc(struct.pack("<IQ", self.header_crc, at), spelled, body)
        return (checksum, start, start + length) if 3 <= length <= 1 << 30 and state == checksum else None

    def durable_frame_behind(self, x):
        """The offset of a frame behind x that was written when the log was durable beyond x, or None. Each offset is tried."""
        data, prefix, state, zeros = self.data, array.array("I", bytes(4 * (x + 1))), 0, ZeroBytes()
        for byte in memoryview(data)[x:]:
            state = CRC[(state ^ byte) & 255] ^ state >> 8
            prefix.append(state)
        reader = Reader(data)
        for at in range(x, len(data) - 7):
            reader.at = at
            try:
                length = reader.varint()
                spelled = data[at:reader.at]
                checksum, start = reader.uint(4), reader.at
                if not 3 <= length <= len(data) - start or at - reader.varint() <= x:
                    continue
            except Damage:
                continue
            state = crc_state(ONES, struct.pack("<IQ", self.header_crc, at) + spelled)
            if zeros.move(state ^ prefix[start], length) ^ prefix[start + length] ^ ONES == checksum:
                return at
        return None

    def string(self, reader):
        entry = reader.varint()
        if entry:
            require(entry <= len(self.interned), "an unknown interned text")
            return self.interned[entry - 1]
        text = reader.text()
        if len(self.interned) < 65536:
            self.interned.append(text)
        return text

    def transaction(self, reader, number):
        """(the transaction for printing, its leaf in the tree)."""
        flags = reader.u8(31)
        self.time += reader.varint()
        actor = self.string(reader) if flags & 1 else None
        message = self.string(reader) if flags & 2 else None
        request = reader.text() if flags & 4 else None
        salt = reader.take(16) if flags & 16 else sha256(self.seed, struct.pack("<Q", number))[:16]
        shown = {"transaction": number, "time": self.time, "actor": actor, "message": message, "request": request}
        if flags & 8:
            commitment, ops = reader.take(32), None
        else:
            payload = reader.blob()
            commitment, body = sha256(salt, payload), Reader(payload)
            ops = body.repeat(body.op)
            body.finish("a payload")
        envelope = struct.pack("<Qq", number, self.time)
        for text in (actor, message, request):
            envelope += b"\0" if text is None else b"\1" + struct.pack("<I", len(text.encode())) + text.encode()
        return shown, ops, sha256(b"\0", envelope, commitment)


def read_store_json(path):
    with open(path, "rb") as file:
        line = file.read()
    before, found, check = line.rpartition(b',"check"')
    require(found and re.fullmatch(rb':"[0-9a-f]{8}"}\n', check), "store.json: no check")
    require(int(check[2:10], 16) == crc(before), "store.json: the check does not fit")
    about = json.loads(line)
    require(about["format"] == 1, "store.json: format %r" % about["format"])
    return bytes.fromhex(about["store"])


def read_head(path, store):
    """(first transaction of the segment, position) of the valid slot with the greater sequence, or None."""
    best = None
    if os.path.exists(path):
        with open(path, "rb") as file:
            data = file.read()
        for index in range(len(data) // 64):
            slot = data[64 * index:64 * index + 64]
            magic, sequence, segment, position, _, closed, owner, check = struct.unpack("<8sQQQQQ12sI", slot)
            valid = magic == b"CAMBHEAD" and crc(slot[:60]) == check and owner == store[:12] and closed <= 1
            if valid and sequence % 2 == index and (best is None or sequence > best[0]):
                best = sequence, segment, position
    return best[1:] if best else None


class Store:
    def __init__(self, path):
        self.path, self.log = path, os.path.join(path, "log")
        self.last, self.tree, self.where = 0, Tree(), "store.json"  # where we are, for messages

    def read(self):
        store = read_store_json(os.path.join(self.path, "store.json"))
        head = read_head(os.path.join(self.path, "HEAD"), store)
        names = sorted(name for name in os.listdir(self.log) if re.fullmatch(r"[0-9]{20}\.log", name))
        self.where = "HEAD"
        require(head is None or "%020d.log" % head[0] in names, "the segment that HEAD names is missing")
        checksum, verdict = 0, "clean"
        for name in names:
            self.where = name
            with open(os.path.join(self.log, name), "rb") as file:
                segment = Segment(name, file.read())
            is_last, named = name == names[-1], head is not None and head[0] == segment.number
            if segment.torn and is_last and not named:
                verdict = "torn creation"
                break
            require(segment.valid, "the header does not verify")
            require(segment.number == self.last + 1, "the segment does not go on with the next number")
            segment.open(store, checksum)
            x, checksum = self.frames(segment, checksum)
            if is_last or x < len(segment.data):
                self.where = "%s at %d" % (name, x)
                require(not named or head[1] <= x, "the log was durable up to %d, says HEAD" % (head[1] if head else 0))
            if x < len(segment.data):
                require(is_last, "a segment that is not the last one does not verify to its end")
                behind = segment.durable_frame_behind(x)
                require(behind is None, "the frame at %s says that the log was durable beyond here" % behind)
                verdict = "torn tail"
        return {"transactions": self.last, "root": self.tree.root().hex(), "verdict": verdict}

    def frames(self, segment, checksum):
        """Prints the transactions of the frames that verify; the offset behind these, and the checksum of the last one."""
        at = HEADER
        while found := segment.frame(at):
            checksum, start, end = found
            self.where = "%s at %d" % (segment.name, at)
            count, region = frame_region(segment.data[start:end])
            reader = Reader(region)
            for _ in range(count):
                shown, ops, leaf = segment.transaction(reader, self.last + 1)
                say({**shown, "offset": at, "segment": segment.name, "ops": ops})
                self.tree.add(leaf)
                self.last += 1
            reader.finish("a region")
            at = end
        return at, checksum


def say(value):
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_store.py STORE")
    sys.stdout.reconfigure(encoding="utf-8")
    store = Store(sys.argv[1])
    try:
        say(store.read())
    except (Damage, OSError, ValueError, KeyError) as error:
        sys.stdout.flush()
        sys.exit("read_store.py: %s: %s (transactions up to %d verify)" % (store.where, error, store.last))


if __name__ == "__main__":
    main()
