#!/usr/bin/env python3
"""Reads the checkpoints of a Cambium store, written from Docs/Formats/CHECKPOINTS.md and Docs/Formats/PAGES.md.

`python3 read_pages.py STORE` prints a JSON object a line for each checkpoint: {"transaction":n,"objects":n,"labels":{...},"digest":hex}.
The digest is that of section 7 of Docs/Formats/FORMAT.md, so it equals the digest of a replay of the log up to this transaction."""
import ctypes
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True  # Tests/python stays as it is.
from read_store import Reader, crc, lz4_block, require

CHUNK, NO_ROW = 65536, 0xFFFFFFFF
WIDTHS = {"bool": 1, "int16": 2, "int32": 4, "int64": 8, "float": 4, "double": 8, "date": 8, "uuid": 16}  # 0 for other types
REGISTER = {"entities": {
    "Request": {"number": 1, "attributes": {
        "name": {"type": "string", "number": 1}, "transaction": {"type": "int64", "number": 2}, "digest": {"type": "data", "number": 3},
        "object": {"type": "int64", "number": 4}}},
    "Label": {"number": 2, "attributes": {"name": {"type": "string", "number": 1}, "transaction": {"type": "int64", "number": 2}}}}}


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_128bits.restype, XXHASH.XXH3_128bits.argtypes = Hash128, [ctypes.c_char_p, ctypes.c_size_t]


def hash128(data):
    hashed = XXHASH.XXH3_128bits(data, len(data))
    return hashed.low | hashed.high << 64


class Entity:
    def __init__(self, name, about):
        self.name, self.about, self.number, self.root = name, about, about["number"], about["number"]


class End:
    """One end of a link: a relationship, or the end that the schema does not name."""

    def __init__(self, about, entity, place):
        self.number, self.root, self.place = about.get("number"), entity.root, place
        self.is_many, self.is_ordered = about.get("many", False), about.get("ordered", False)


class Table:
    """The columns of a table, each with the width of its values, or "text", "row" or "number"."""

    def __init__(self, root, entities):
        self.root, self.entities, self.attributes, self.rows = root, entities, {}, {}
        self.columns = ["number", "number", 8, "number"] if root else []
        self.entity_slot = self.add(2) if len(entities) > 1 else None
        for entity in entities:
            for about in entity.about.get("attributes", {}).values():
                slot = self.add(WIDTHS.get(about["type"], "text"))
                if about["type"] == "double" and "sum" in about.get("derived", {}):
                    self.add("text")  # the exact sum
                if "derived" not in about:
                    self.attributes[about["number"]] = slot

    def add(self, kind):
        self.columns.append(kind)
        return len(self.columns) - 1


class List:
    def __init__(self, is_ordered, owners, members):
        self.owners, self.members, self.is_ordered = owners, members, is_ordered
        self.first = owners.add("row")
        if is_ordered:
            self.left, self.right, _, _ = (members.add(kind) for kind in ("row", "row", "row", "number"))
        else:
            owners.add("row"), owners.add("number"), members.add("row")
            self.next = members.add("row")

    def rows(self, owner):
        row, above = self.owners.rows[owner].cells[self.first], []
        while row != NO_ROW or above:
            if not self.is_ordered:
                yield row
                row = self.members.rows[row].cells[self.next]
            elif row != NO_ROW:
                above.append(row)
                row = self.members.rows[row].cells[self.left]
            else:
                yield (row := above.pop())
                row = self.members.rows[row].cells[self.right]


class Link:
    """The columns of two inverse relationships. `members(e, row)` are the rows at the other end."""

    def __init__(self, ends, tables):
        self.ends, self.tables = ends, [next(table for table in tables if table.root == end.root) for end in ends]
        self.is_symmetric, (first, second) = ends[0] is ends[1], ends
        if first.is_many and second.is_many:
            self.edges = Table(None, [])
            tables.append(self.edges)
            self.slots = [self.edges.add("row"), self.edges.add("row")]
            self.lists = [List(end.is_ordered, table, self.edges) for end, table in zip(ends, self.tables)]
        elif first.is_many or second.is_many:
            self.child = 1 if first.is_many else 0
            self.slot = self.tables[self.child].add("row")
            self.list = List(ends[1 - self.child].is_ordered, self.tables[1 - self.child], self.tables[self.child])
        else:
            slot = self.tables[0].add("row")
            self.slots = [slot, slot if self.is_symmetric else self.tables[1].add("row")]

    def members(self, end, row):
        cells = self.tables[end].rows[row].cells
        if self.ends[0].is_many and self.ends[1].is_many:
            sides = (0, 1) if self.is_symmetric else (end,)
            return [self.edges.rows[edge].cells[self.slots[1 - side]] for side in sides for edge in self.lists[side].rows(row)]
        if self.ends[end].is_many:
            return list(self.list.rows(row))
        target = cells[self.slot if self.ends[1 - end].is_many else self.slots[end]]
        return [] if target == NO_ROW else [target]

    def reporting_ends(self):
        """The ends that the digest contains, with their tags."""
        if any(end.is_ordered for end in self.ends):
            return [(number, 5) for number, end in enumerate(self.ends) if end.is_ordered]
        first, second = self.ends
        if first.is_many != second.is_many:
            return [(0 if second.is_many else 1, 4)]
        return [(0 if first.place <= second.place else 1, 4)]


class Layout:
    def __init__(self, schema):
        entities = [Entity(name, about) for name, about in schema["entities"].items()]
        by_name = {entity.name: entity for entity in entities}
        for entity in entities:
            top = entity
            while top.about.get("parent"):
                top = by_name[top.about["parent"]]
            entity.root = top.number
        roots = [entity.number for entity in entities if entity.root == entity.number]
        self.tables = [Table(root, [entity for entity in entities if entity.root == root]) for root in roots]
        named = [(entity, name, about) for entity in entities for name, about in entity.about.get("relationships", {}).items()]
        ends = {(entity.name, name): End(about, entity, place) for place, (entity, name, about) in enumerate(named)}
        inverses = {(entity.name, name): (about["to"], about["inverse"]) for entity, name, about in named if about.get("inverse")}
        inverses.update({inverse: end for end, inverse in inverses.items()})
        self.links, done = [], set()
        for entity, name, about in named:
            if (key := (entity.name, name)) not in done:
                inverse = inverses.get(key)
                other = ends[inverse] if inverse else End({"many": True}, by_name[about["to"]], len(named))
                self.links.append(Link([ends[key], other], self.tables))
                done.update([key, inverse])


class Row:
    def __init__(self, serial, is_stub, cells):
        self.serial, self.is_stub, self.cells = serial, is_stub, cells


class Checkpoint:
    def __init__(self, store, name):
        with open(os.path.join(store, "roots", name), "rb") as file:
            data = file.read()
        require(crc(data[:-4]) == int.from_bytes(data[-4:], "little"), "the record does not verify")
        record = Reader(data, 8)
        version, self.shift, bits = record.uint(2), record.u8(), record.u8(7)
        require(data[:8] == b"CAMBROOT" and version == 2, "not a record of format 2")
        record.take(16)
        self.transaction = record.uint(8)
        record.take(28)
        with open(os.path.join(store, "pages-%016x" % record.uint(8)), "rb") as file:
            self.file = file.read()
        record.take(8)
        directory, count, schema_length = record.uint(4), record.uint(4), record.uint(4)
        self.chunks, width = {}, 8 if bits & 1 else 6
        table = self.table(record, schema_length + width * count) if bits & 2 else record
        op = Reader(table.take(schema_length))
        require(op.u8() == 1 << 5 | 1, "a record without a schema")
        for chunk in range(count):
            self.read_chunk(chunk, table.uint(2), table.uint(4), table.uint(2) if bits & 1 else 0)
        self.layout = Layout(json.loads(op.blob()))
        self.next_serials = self.load(directory, self.layout)
        self.labels = self.register_labels(self.uint(self.page(directory, 1), 120 + 4 * len(self.layout.tables)))

    def register_labels(self, reference):
        if not reference:
            return {}
        register = Layout(REGISTER)
        self.load(reference, register)
        table = register.tables[1]
        return {str(row.cells[table.attributes[1]], "utf-8"): row.cells[table.attributes[2]] for row in table.rows.values()
                if row.cells[table.attributes[2]]}

    def part(self, reader):
        chunk, size, checksum = reader.uint(4), reader.uint(4), reader.uint(4)
        data = self.file[CHUNK * chunk:CHUNK * chunk + size]
        require(crc(data) == checksum, "a part of the table does not verify")
        return data

    def table(self, record, length):
        head = Reader(self.part(record))
        others = [self.part(head) for _ in range(head.uint(4))]
        table = head.take(len(head.data) - head.at) + b"".join(others)
        require(len(table) == length, "a table of the wrong length")
        return Reader(table)

    def read_chunk(self, chunk, live, checksum, packed):
        if live in (0, 65535):
            return
        data = self.file[CHUNK * chunk:CHUNK * (chunk + 1)]
        data = lz4_block(data[:packed], CHUNK) if packed else data.ljust(CHUNK, b"\0")
        require(crc(data) == checksum, "chunk %d does not verify" % chunk)
        self.chunks[chunk] = data

    def page(self, reference, *kinds):
        chunk, at = self.chunks[reference >> 12], (reference & 4095) * 16
        size, kind = struct.unpack_from("<HB", chunk, at + 8)
        require(kind in kinds, "a page of the kind %d, not %s" % (kind, kinds))
        return chunk[at:at + 16 * size]

    @staticmethod
    def uint(page, at, width=4):
        return int.from_bytes(page[at:at + width], "little")

    def element(self, page, at, index):
        reference, height = self.uint(page, at), self.uint(page, at + 4)
        if index >> self.shift * height:
            return 0
        for level in reversed(range(height)):
            place = index >> self.shift * level & (1 << self.shift) - 1
            reference = reference and self.uint(self.page(reference, 3), 16 + 4 * place)
        return reference

    def load(self, reference, layout):
        """Reads the rows of all tables of a graph. Returns the next serial of each root entity."""
        directory, next_serials = self.page(reference, 1), {}
        for number, table in enumerate(layout.tables):
            page = self.page(self.uint(directory, 120 + 4 * number), 2)
            next_serials[table.root] = self.uint(page, 32, 8)
            for group in range(self.uint(page, 48)):
                if found := self.element(page, 16, group):
                    self.load_group(table, group, self.page(found, 4))
            require(len(table.rows) == self.uint(page, 40, 8), "a table with another number of rows")
        return next_serials

    def load_group(self, table, group, page):
        virtual_page, base = self.uint(page, 16), self.uint(page, 24, 8)
        live, stubs = self.uint(page, 32, 16), self.uint(page, 48, 16)
        leaves = [self.page(self.uint(page, 64 + 4 * slot), 5, 6, 7, 8) for slot in range(len(table.columns))]
        for place in range(1 << self.shift):
            if not live >> place & 1:
                continue
            cells = [self.cell(kind, leaf, place) for kind, leaf in zip(table.columns, leaves)]
            if table.root:
                cells[0], cells[1] = cells[0] + base, cells[1] + base
                require(cells[0] <= cells[1] <= self.transaction, "a row of a later transaction")
            number = cells[3] if table.root and virtual_page == NO_ROW else virtual_page
            table.rows[group << self.shift | place] = Row(number << self.shift | place, bool(stubs >> place & 1), cells)

    def cell(self, kind, leaf, place):
        if kind in ("row", "number"):
            return self.uint(leaf, 16 + 8 * place, 8) if leaf[10] == 7 else self.uint(leaf, 16 + 4 * place)
        if kind != "text":
            return self.uint(leaf, 32 + kind * place, kind) if leaf[16 + place // 8] >> place % 8 & 1 else None
        cell = self.uint(leaf, 32 + 4 * place)
        at = cell & 0xFFFF
        if cell >> 24 < 2:
            return leaf[at:at + (cell >> 16 & 255)] if cell else None
        head, length = self.page(self.uint(leaf, at), 9), self.uint(leaf, at + 4, 8)
        extents = [self.page(self.uint(head, 32 + 4 * number), 10)[16:] for number in range(self.uint(head, 24))]
        require(self.uint(head, 16, 8) == length <= sum(map(len, extents)), "a long value of the wrong length")
        return b"".join(extents)[:length]

    def digest(self):
        total = 0

        def add(tag, root, number, serial, data):
            nonlocal total
            total += hash128(struct.pack("<HHHQ", tag, root, number, serial) + data)

        for table in self.layout.tables:
            if not table.root:
                continue
            for row in table.rows.values():
                entity = table.entities[0].number if table.entity_slot is None else row.cells[table.entity_slot]
                add(2, table.root, 0, row.serial, struct.pack("<QQ", 2 * entity + row.is_stub, 0))
                for number, slot in table.attributes.items():
                    if (value := row.cells[slot]) is not None:
                        add(3, table.root, number, row.serial, value if isinstance(value, bytes) else value.to_bytes(16, "little"))
        for link in self.layout.links:
            for end, tag in link.reporting_ends():
                owner, targets = link.ends[end], link.tables[1 - end].rows
                for row, about in link.tables[end].rows.items():
                    for index, member in enumerate(link.members(end, row)):
                        data = struct.pack("<QQ", targets[member].serial, index if tag == 5 else 0)
                        add(tag, owner.root, owner.number, about.serial, data)
        return "%032x" % (total % (1 << 128))

    def summary(self):
        count = sum(len(table.rows) for table in self.layout.tables if table.root)
        return {"transaction": self.transaction, "objects": count, "labels": self.labels, "digest": self.digest()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read_pages.py STORE")
    for NAME in sorted(name for name in os.listdir(os.path.join(sys.argv[1], "roots")) if re.fullmatch(r"\d{20}\.root", name)):
        try:
            print(json.dumps(Checkpoint(sys.argv[1], NAME).summary(), ensure_ascii=False, separators=(",", ":")))
        except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
            sys.exit("read_pages.py: roots/%s: %s" % (NAME, error))
