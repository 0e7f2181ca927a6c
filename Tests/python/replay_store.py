#!/usr/bin/env python3
"""Replays the log of a Cambium store, written from Docs/Formats/FORMAT.md, Docs/Use/CLONE.md and Docs/Use/MIGRATION.md.

`python3 replay_store.py STORE` prints {"transactions":n,"objects":n,"digest":hex}. It also compares each digest in the log with its own
graph. It exits with 1 if the log is corrupt or cannot be applied. It never writes to the store. Defaults may have any type except date."""
import base64
import ctypes
import decimal
import fractions
import json
import math
import struct
import sys
import uuid

sys.dont_write_bytecode = True  # Tests/python stays as it is.
import read_store
from read_pages import WIDTHS, XXHASH, hash128
from read_store import Reader, require

XXHASH.XXH3_64bits_withSeed.restype = ctypes.c_uint64
XXHASH.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
MASK, STEP, SKIP, COPY, SHARE = (1 << 64) - 1, 0x9E3779B97F4A7C15, 0, 1, 2
KEYS = ["exclude", "rebuild", "followParent", "withoutParent"]
TAGS = {"bool": (1, 2), "int16": (3,), "int32": (3,), "int64": (3,), "float": (4,), "double": (5,), "decimal": (6,), "string": (7,),
        "data": (8,), "date": (9,), "uuid": (10,), "uri": (11,), "json": (12,)}


def bits(form, value):
    return int.from_bytes(struct.pack("<" + form, value), "little")


def decimal_bytes(number, exponent=0):
    while number and number % 10 == 0 and exponent < 127:
        number, exponent = number // 10, exponent + 1
    digits = abs(number).to_bytes((abs(number).bit_length() + 7) // 8, "big")
    return struct.pack("<Bb", 1 if number > 0 else 2, exponent) + digits if number else b"\0"


def decimal_in_range(number, exponent):
    """The stored form of a decimal number, or None if its exponent or its number of digits is out of range."""
    while number and number % 10 == 0:
        number, exponent = number // 10, exponent + 1
    while number and exponent > 127 and abs(number) < 10**37:
        number, exponent = number * 10, exponent - 1
    return None if number and not -128 <= exponent <= 127 else decimal_bytes(number, exponent)


def stored(value, type):
    """The stored form of a default in a schema: the bits of a value of fixed width, or bytes."""
    if value is None:
        return None
    if type == "bool" or type.startswith("int"):
        return int(value) & (1 << 8 * WIDTHS[type]) - 1
    if type in ("float", "double"):
        return bits("f" if type == "float" else "d", float(value))
    if type == "decimal":
        digits, _, exponent = str(value).lower().partition("e")
        whole, _, fraction = digits.partition(".")
        return decimal_bytes(int(whole + fraction), int(exponent or 0) - len(fraction))
    if type == "uuid":
        return int.from_bytes(uuid.UUID(value).bytes, "little")
    require(type != "date", "a default of the type date, which this reader does not convert")
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=float) if type == "json" else value
    return base64.b64decode(text) if type == "data" else text.encode()


def float_text(value, type):
    """The shortest decimal text that the type of a float reads as the same number."""
    if type == "double":
        return repr(struct.unpack("<d", value.to_bytes(8, "little"))[0])
    number = struct.unpack("<f", value.to_bytes(4, "little"))[0]
    texts = ("%.*g" % (digits, number) for digits in range(1, 10))
    return next(text for text in texts if bits("f", float(text)) == value)


def nearest_float(number):
    """A fraction as a float, rounded once. Rounding it to a double first could round it twice. None if it is beyond the range."""
    magnitude = abs(number)
    if magnitude == 0:
        return 0.0
    exponent = max(-149, magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 24)
    while magnitude / fractions.Fraction(2) ** exponent >= 1 << 24:
        exponent += 1
    kept = round(magnitude / fractions.Fraction(2) ** exponent)  # a half is rounded to an even number
    nearest = math.ldexp(kept, exponent)
    return None if nearest >= 2.0**128 else math.copysign(nearest, number)


def number_of(value, type):
    """A stored value as a fraction."""
    if type == "decimal":
        digits = int.from_bytes(value[2:], "big") * (-1 if value[0] == 2 else 1)
        return digits * fractions.Fraction(10) ** struct.unpack("<b", value[1:2] or b"\0")[0]
    if type in ("float", "double"):
        width, form = (4, "<f") if type == "float" else (8, "<d")
        return fractions.Fraction(struct.unpack(form, value.to_bytes(width, "little"))[0])
    return fractions.Fraction(value if type == "bool" else value - (value >> 8 * WIDTHS[type] - 1 << 8 * WIDTHS[type]))


def converted(value, old, new):
    """A stored value in another type (Docs/Use/MIGRATION.md), or None if the value is beyond its range."""
    if value is None or old == new or (old, new) == ("uri", "string"):
        return value
    require(converts(old, new), "a conversion from %s to %s" % (old, new))
    number = number_of(value, old)
    if new == "bool":
        return int(number != 0)
    if new == "decimal":
        if old in ("float", "double"):
            digits, _, exponent = float_text(value, old).partition("e")
            whole, _, fraction = digits.partition(".")
            return decimal_in_range(int(whole + fraction), int(exponent or 0) - len(fraction))
        return decimal_bytes(int(number))
    if new in ("float", "double"):
        nearest = nearest_float(number) if new == "float" else float(number)
        return None if nearest is None else bits("f" if new == "float" else "d", nearest)
    whole = math.floor(abs(number) + fractions.Fraction(1, 2)) * (-1 if number < 0 else 1)
    width = 8 * WIDTHS[new]
    return whole & (1 << width) - 1 if -(1 << width - 1) <= whole < 1 << width - 1 else None


def converts(old, new):
    return old == new or (old, new) == ("uri", "string") or {old, new} <= {"bool", "int16", "int32", "int64", "float", "double", "decimal"}


class Property:
    """An attribute, or one end of a link. An end that the schema does not name has the key ("hidden", root, number) of its inverse."""

    def __init__(self, name, about, entity, place, kind):
        self.name, self.about, self.entity, self.place, self.key = name, about, entity, place, about.get("number")
        self.is_relationship, self.is_hidden, self.type = kind == "relationships", False, about.get("type")
        self.is_many, self.is_ordered = about.get("many", False), about.get("ordered", False)
        self.is_stored = not self.is_relationship and "derived" not in about
        self.info = about.get("userInfo", {})

    def default(self):
        return stored(self.about.get("default"), self.type)


class Entity:
    def __init__(self, name, about):
        self.name, self.about, self.number, self.line = name, about, about["number"], []


class Schema:
    def __init__(self, data):
        about = json.loads(data, parse_float=decimal.Decimal)
        entities = [Entity(name, each) for name, each in about["entities"].items()]
        self.by_name, self.by_number = {each.name: each for each in entities}, {each.number: each for each in entities}
        self.properties = []
        for entity in entities:
            top = entity
            while top:
                entity.line.insert(0, top)
                top = self.by_name.get(top.about.get("parent"))
            entity.root = entity.line[0].number
            for kind in ("attributes", "relationships"):
                for name, each in entity.about.get(kind, {}).items():
                    self.properties.append(Property(name, each, entity, len(self.properties), kind))
        self.link(dict(((each.entity.name, each.name), each) for each in self.properties if each.is_relationship))
        self.of_entity = {each.number: [one for top in each.line for one in self.properties if one.entity is top] for each in entities}
        self.by_key = {(each.entity.root, each.key): each for each in self.properties}

    def link(self, ends):
        for end in ends.values():
            end.destination, end.inverse = self.by_name[end.about["to"]], None
        for end in list(ends.values()):
            if end.about.get("inverse"):
                other = ends[end.destination.name, end.about["inverse"]]
                end.inverse, other.inverse = other, end
        for end in ends.values():
            if not end.inverse:
                hidden = Property(None, {"many": True}, end.destination, len(self.properties), "relationships")
                hidden.key, hidden.is_hidden = ("hidden", end.entity.root, end.key), True
                hidden.destination, hidden.inverse, end.inverse = end.entity, end, hidden
                self.properties.append(hidden)

    def promoted(self, old):
        """The numbers of old roots that have a parent in this schema, each with the number of the entity that its objects get."""
        found = {}
        for root in old.by_number.values():
            top = self.by_number.get(root.number)
            if root.root != root.number or not top or top.root != root.number or top.name == root.name:
                continue
            former = top.about.get("renamedFrom")
            if former and former in (root.name, root.about.get("renamedFrom")):
                continue
            below = [each for each in self.by_number.values() if each.root == root.number and each is not top]
            named = [each for each in below if each.name == root.name] or [
                each for each in below if each.about.get("renamedFrom") == root.name]
            if named and named[0].number not in old.by_number:
                found[root.number] = named[0].number
        return found

    def attribute(self, root, number):
        found = self.by_key[root, number]
        require(found.is_stored, "a value of a derived attribute, or of a relationship")
        return found


class Object:
    def __init__(self, id, entity, is_stub=False):
        self.id, self.entity, self.is_stub, self.values, self.members = id, entity, is_stub, {}, {}

    def of(self, end):
        return self.members.setdefault(end.key, [])

    def set(self, key, value):
        self.values.pop(key, None)
        if value is not None:
            self.values[key] = value


class Graph:
    def __init__(self):
        self.schema, self.objects, self.next, self.labels, self.transaction, self.before = None, {}, {}, {}, 0, None

    def has(self, object, property):
        return property.entity in object.entity.line

    def add(self, id, entity, is_stub=False):
        require(id not in self.objects and entity.root == id[0], "an object that exists already, or of another hierarchy")
        self.next[id[0]] = max(self.next.get(id[0], 1), id[1] + 1)
        self.objects[id] = Object(id, entity, is_stub)
        return self.objects[id]

    # Links

    def link(self, end, owner, target, at=None):
        members = owner.of(end)
        if target.id in members:
            if at is not None and end.is_ordered:
                members.remove(target.id)
                members.insert(at, target.id)
            return
        for one, side in ((owner, end), (target, end.inverse)):
            if not side.is_many and one.of(side):
                self.unlink(side, one, self.objects[one.of(side)[0]])
        members = owner.of(end)
        members.insert(len(members) if at is None else at, target.id)
        if end.inverse is not end or owner is not target:
            target.of(end.inverse).append(owner.id)

    def unlink(self, end, owner, target):
        if target.id in owner.of(end):
            owner.of(end).remove(target.id)
            if end.inverse is not end or owner is not target:
                target.of(end.inverse).remove(owner.id)

    def delete(self, ids):
        found = dict.fromkeys(ids)
        for id in (queue := list(found)):
            for end in self.schema.of_entity[self.objects[id].entity.number]:
                if end.is_relationship and end.about.get("onDelete") == "cascade":
                    new = [member for member in self.objects[id].of(end) if member not in found]
                    found.update(dict.fromkeys(new))
                    queue += new
        for id in found:
            for end in self.schema.properties:
                if end.is_relationship and self.has(self.objects[id], end):
                    for member in list(self.objects[id].of(end)):
                        self.unlink(end, self.objects[id], self.objects[member])
        for id in found:
            del self.objects[id]

    # Digest

    def digest(self):
        total = 0

        def add(tag, root, number, serial, data):
            nonlocal total
            total += hash128(struct.pack("<HHHQ", tag, root, number, serial) + data)

        for (root, serial), object in self.objects.items():
            add(2, root, 0, serial, struct.pack("<QQ", 2 * object.entity.number + object.is_stub, 0))
            for key, value in object.values.items():
                add(3, root, key, serial, value if isinstance(value, bytes) else value.to_bytes(16, "little"))
            for key, members in object.members.items():
                if tag := self.tag(self.schema.by_key[root, key]):
                    for index, member in enumerate(members):
                        add(tag, root, key, serial, struct.pack("<QQ", member[1], index if tag == 5 else 0))
        return total % (1 << 128)

    @staticmethod
    def tag(end):
        other = end.inverse
        if end.is_ordered or other.is_ordered:
            return 5 if end.is_ordered else 0
        if end.is_many != other.is_many:
            return 0 if end.is_many else 4
        return 4 if end.place <= other.place else 0

    # Migration

    def migrate(self, schema):
        old, objects, self.schema, self.objects = self.schema, self.objects, schema, {}
        if old is None:
            return
        promoted = schema.promoted(old)
        for id, object in objects.items():
            entity = schema.by_number.get(promoted.get(object.entity.number, object.entity.number))
            if entity and entity.root == id[0]:
                self.objects[id] = Object(id, entity, object.is_stub)
        self.next = {root: serial for root, serial in self.next.items() if root in schema.by_number}
        for id, object in self.objects.items():
            for new in schema.of_entity[object.entity.number]:
                before = old.by_key.get((id[0], new.key))
                kept = before if before and self.has(objects[id], before) else None
                if new.is_stored:
                    source = kept or self.lost_attribute(objects[id], old, object, new)
                    object.set(new.key, self.migrated_value(objects[id], source, new))
                elif new.is_relationship:
                    object.members[new.key] = self.migrated_members(objects[id], old, before, kept, new)
        for end in schema.properties:
            if end.is_relationship and not end.is_hidden and end.place <= end.inverse.place:
                self.narrow(old, end)
        for end in schema.properties:
            if end.is_hidden:
                for object in list(self.objects.values()):
                    for member in object.members.get(end.inverse.key, []) if self.has(object, end.inverse) else []:
                        self.objects[member].of(end).append(object.id)

    def lost_attribute(self, before, old, object, new):
        """The attribute that the object loses, and whose value the attribute of the same name takes."""
        for name in (new.about.get("renamedFrom"), new.name):
            for found in old.of_entity[before.entity.number]:
                if found.name == name and found.is_stored and converts(found.type, new.type):
                    if not any(each.key == found.key for each in self.schema.of_entity[object.entity.number]):
                        return found
        return None

    def narrow(self, old, end):
        """Keeps one member of each object at the ends of a link that become to-one: the first one that no other object keeps."""
        def was_many(end):
            before = old.by_key.get((end.entity.root, end.key))
            if before or end.is_hidden:
                return before.is_many if before else True
            inverse = old.by_key.get((end.inverse.entity.root, end.inverse.key))
            return bool(inverse) and inverse.inverse.is_many

        ends = [each for each in dict.fromkeys((end, end.inverse)) if not each.is_many and was_many(each)]
        if not ends:
            return
        first, is_own, kept, owners = ends[0], end.inverse is end, {}, {}

        def members(object, side):
            before = old.by_key.get((side.entity.root, side.key))
            found = object.members.get(side.key, [])
            return found if before and before.is_ordered else sorted(found)

        for id, object in sorted(self.objects.items()):
            if not self.has(object, first) or is_own and id in kept:
                continue
            free = [member for member in members(object, first) if first.inverse.is_many or member not in (kept if is_own else owners)]
            if free:
                kept[id], owners[free[0]] = free[0], id
                if is_own:
                    kept[free[0]] = id
        for id, object in self.objects.items():
            for side in {first, first.inverse}:
                if side.key in object.members:
                    object.members[side.key] = [
                        member for member in object.members[side.key]
                        if (kept.get(id) == member if side is first else kept.get(member) == id)]

    def migrated_value(self, object, kept, new):
        value = converted(object.values.get(kept.key), kept.type, new.type) if kept else None
        is_filled = not kept or kept.about.get("optional") and not new.about.get("optional")
        return new.default() if value is None and is_filled and not object.is_stub else value

    def migrated_members(self, object, old, before, kept, new):
        """The members at an end. An end that gets a name had the hidden key of its inverse before."""
        members = object.members.get(kept.key, []) if kept else []
        if not before:
            inverse = old.by_key.get((new.inverse.entity.root, new.inverse.key))
            members = object.members.get(inverse.inverse.key, []) if inverse and inverse.is_relationship else []
        remaining = [member for member in members if member in self.objects and self.has(self.objects[member], new.inverse)]
        return sorted(remaining) if new.is_ordered and not (kept and kept.is_ordered) else remaining


class OpReader(Reader):
    """Applies the ops of a payload to a graph."""

    def __init__(self, data, graph):
        super().__init__(data)
        self.graph = graph

    def id(self):
        return self.varint(), self.varint()

    def object(self):
        return self.graph.objects[self.id()]

    def value(self, type):
        tag = self.u8(12)
        require(tag in (0, *TAGS[type]), "a value that does not belong to its type")
        if tag in (0, 1, 2):
            return tag - 1 if tag else None
        if tag == 3:
            return ((number := self.varint()) >> 1 ^ -(number & 1)) & (1 << 8 * WIDTHS[type]) - 1
        return self.uint(WIDTHS[type]) if tag in (4, 5, 9, 10) else self.blob()

    def assign(self, object):
        for _ in range(self.varint()):
            attribute = self.graph.schema.attribute(object.id[0], self.varint())
            object.set(attribute.key, self.value(attribute.type))

    def serials(self):
        found, end = [], 0
        for _ in range(self.varint()):
            first = end + self.varint()
            end = first + self.varint()
            found += range(first, end)
        return found

    def apply(self):
        while self.at < len(self.data):
            code = self.u8()
            kind, algorithm, graph = code & 31, code >> 5, self.graph
            require(algorithm == 1 or (kind, algorithm) in ((12, 2), (12, 3)), "an op of an unknown algorithm")
            if kind == 1:
                graph.migrate(Schema(self.blob()))
            elif kind == 2:
                object = graph.add(self.id(), graph.schema.by_number[self.varint()])
                for attribute in graph.schema.of_entity[object.entity.number]:
                    if attribute.is_stored:
                        object.set(attribute.key, attribute.default())
                self.assign(object)
            elif kind == 3:
                self.assign(self.object())
            elif kind in (4, 5, 6, 7):
                self.change_link(kind)
            elif kind == 8:
                graph.delete([self.id() for _ in range(self.varint())])
            elif kind in (9, 10):
                self.upsert() if kind == 9 else self.relink()
            elif kind == 11:
                number, digest = self.varint(), self.uint(16)
                require(number < graph.transaction - 1 or digest == graph.digest(), "a digest that differs from the graph")
            elif kind == 12:
                Clone(self, algorithm).run()
            elif kind == 13:
                number, name = self.varint(), self.text()
                graph.labels.pop(name, None)
                if number:
                    graph.labels[name] = number
            elif kind == 14:
                object, source, object.is_stub = self.object(), self.varint(), bool(self.u8(1))
                require(source < graph.next[object.id[0]], "a source that no object has had")
            else:
                require(kind == 15 and self.transactions()[-1] < graph.transaction, "an op of an unknown kind, or an undo of a later transaction")

    def transactions(self):
        found, end = [0], 0
        for _ in range(self.varint()):
            first = end + self.varint()
            end = first + self.varint()
            found.append(end - 1)
        return found

    def change_link(self, kind):
        owner, number, target = self.object(), self.varint(), self.object()
        end = self.graph.schema.by_key[owner.id[0], number]
        at = self.varint() if kind in (5, 7) else None
        if kind == 6:
            return self.graph.unlink(end, owner, target)
        require(kind != 7 or end.is_ordered and target.id in owner.of(end), "a move of an object that is not a member")
        self.graph.link(end, owner, target, at)

    def upsert(self):
        entity, kind, serials = self.graph.schema.by_number[self.varint()], self.u8(3), self.serials()
        objects = [self.graph.objects[entity.root, serial] if kind > 1 else self.graph.add((entity.root, serial), entity, kind == 1)
                   for serial in serials]
        require(all(object.entity is entity for object in objects), "a block of objects of another entity")
        self.repeat(lambda: self.column(len(serials)))  # the identities, which set nothing
        for number, cells in self.repeat(lambda: self.column(len(serials))):
            self.graph.schema.attribute(entity.root, number)
            for object, cell in zip(objects, cells):
                is_uuid = self.graph.schema.by_key[entity.root, number].type == "uuid"
                object.set(number, int.from_bytes(cell, "little") if is_uuid and cell is not None else cell)
        for object in objects:
            object.is_stub = object.is_stub and kind != 3

    def relink(self):
        root, number, serials, kind = self.varint(), self.varint(), self.serials(), self.u8(2)
        graph, count = self.graph, len(serials)
        end, owners = graph.schema.by_key[root, number], [graph.objects[root, serial] for serial in serials]
        require(kind == (0 if not end.is_many else 2 if end.is_ordered else 1), "a block of links of another kind")

        def lists(counts):
            flat = iter(self.numbers(sum(counts), 8))
            return [[graph.objects[end.destination.root, next(flat)] for _ in range(count)] for count in counts]

        if kind == 0:
            for owner, serial in zip(owners, self.numbers(count, 8)):
                if serial:
                    graph.link(end, owner, graph.objects[end.destination.root, serial])
                else:
                    for member in list(owner.of(end)):
                        graph.unlink(end, owner, graph.objects[member])
        elif kind == 1:
            removed = lists(self.numbers(count, 4))
            for owner, old, new in zip(owners, removed, lists(self.numbers(count, 4))):
                for target in old:
                    graph.unlink(end, owner, target)
                for target in new:
                    graph.link(end, owner, target)
        else:
            kept = self.numbers(count, 4)
            for owner, front, following in zip(owners, kept, lists(self.numbers(count, 4))):
                for member in owner.of(end)[front:]:
                    if graph.objects[member] not in following:
                        graph.unlink(end, owner, graph.objects[member])
                for index, target in enumerate(following):
                    graph.link(end, owner, target, min(front + index, len(owner.of(end))))


def mixed(word):
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def unmixed(word):
    word = (word ^ word >> 31 ^ word >> 62) * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK
    word = (word ^ word >> 27 ^ word >> 54) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & MASK
    return word ^ word >> 30 ^ word >> 60


class Clone:
    def __init__(self, reader, algorithm):
        self.graph, self.algorithm = reader.graph, algorithm
        self.roots, flags = reader.repeat(reader.id), reader.u8(15)
        self.depth = reader.varint() if flags & 1 else None
        self.keys = [reader.text() for _ in range(4)] if flags & 2 else KEYS
        self.rules = {(entity, number, rule >> 2): rule & 3 for entity, number, rule in
                      reader.repeat(lambda: (reader.varint(), reader.varint(), reader.u8(6)))}
        self.given = {}
        for _ in range(reader.varint()):
            key = reader.varint(), reader.varint()
            self.given[key] = reader.value(self.graph.schema.by_key[key].type)
        self.time = struct.unpack("<q", reader.take(8))[0] if flags & 4 else None
        self.seed = reader.take(16) if flags & 8 else None
        self.hierarchies = reader.repeat(
            lambda: (reader.varint(), reader.varint(), reader.repeat(lambda: (reader.varint(), reader.varint()))))
        self.set_hash, self.copies = reader.uint(8), {}

    def rule(self, object, end):
        """The rule of an object's side of a link; None if the schema does not name this side."""
        if end.is_hidden:
            return None
        for at_root in (1, 0) if object.id in self.roots else (0,):
            if (rule := self.rules.get((object.entity.number, end.key, at_root))) is not None:
                return rule
        if self.keys[0] in end.info:
            return SKIP
        if "clone" in end.info:
            return {"skip": SKIP, "copy": COPY, "share": SHARE}[end.info["clone"].lower()]
        return SHARE if end.inverse.is_many and not end.inverse.is_hidden else COPY

    def walk(self):
        self.parents, level, depth = dict.fromkeys(self.roots), self.roots, 0
        while level and depth != self.depth:
            following = []
            for id in level:
                object = self.graph.objects[id]
                for end in self.graph.schema.of_entity[object.entity.number]:
                    if end.is_relationship and self.rule(object, end) == COPY:
                        members = object.of(end) if end.is_ordered else sorted(object.of(end))
                        for member in members:
                            if member not in self.parents:
                                self.parents[member] = id
                                following.append(member)
            level, depth = following, depth + 1

    def settle(self):
        """Numbers the copies, and compares them with the outcome in the op."""
        hashed, self.ranks, self.sizes = 0, {}, {}
        require(sorted({id[0] for id in self.parents}) == [root for root, _, _ in self.hierarchies], "a clone of other hierarchies")
        for root, first, counts in self.hierarchies:
            originals = sorted(id for id in self.parents if id[0] == root)
            numbers = [self.graph.objects[id].entity.number for id in originals]
            require(first == self.graph.next.get(root, 1), "a clone with other serials")
            require(sorted((number, numbers.count(number)) for number in set(numbers)) == counts, "a clone of other objects")
            self.sizes[root] = max(len(originals), sum(1 for id in self.graph.objects if id[0] == root))
            runs = []
            for rank, id in enumerate(originals):
                self.copies[id], self.ranks[id] = (root, first + rank), rank
                if runs and sum(runs[-1]) == id[1]:
                    runs[-1][1] += 1
                else:
                    runs.append([id[1], 1])
            for start in range(0, len(runs), 512):
                words = ([] if start else [root]) + [word for run in runs[start:start + 512] for word in run]
                data = struct.pack("<%dQ" % len(words), *words)
                hashed = XXHASH.XXH3_64bits_withSeed(data, len(data), hashed)
        require(hashed == self.set_hash, "a clone of another set of objects")

    def new_uuid(self, id, attribute):
        both = hash128(self.seed + struct.pack("<HH", id[0], attribute.key))
        low_key, high_key, rank, size = both & MASK, both >> 64, self.ranks[id], self.sizes[id[0]]
        if self.algorithm > 1:
            width = min(size.bit_length(), 24)
            number = self.copies[id][1] - rank + (rank >> width)
            low = mixed(high_key + number * STEP & MASK) & ~(15 << 52) & ~((1 << 29) - 1)
            high = mixed(low_key + number * STEP & MASK) & ~64 | 128
            return low | 4 << 52 | width << 24 | rank % (1 << width) | high << 64
        step = MASK // size
        hashed = mixed(low_key ^ high_key) + rank * step + (mixed(high_key + (rank + 1) * STEP & MASK) * step >> 64) & MASK
        high = mixed(low_key + (rank + 1) * STEP & MASK) & ~(15 << 52) & ~64 | 128
        low = unmixed(hashed) ^ high * STEP & MASK
        version = low & 15 << 52 ^ 4 << 52
        return low ^ version | (high ^ version) << 64

    def value(self, id, attribute):
        exclude, rebuild, follow, without = (attribute.info.get(key) for key in self.keys)
        original = self.graph.objects[id]
        if id in self.roots and (id[0], attribute.key) in self.given:
            return self.given[id[0], attribute.key]
        if exclude is not None:
            return attribute.default()
        value = original.values.get(attribute.key)
        if rebuild and rebuild.lower() == "now":
            value = bits("d", (self.time - 978307200 * 10**6) / 1e6 if self.algorithm > 2 else self.time / 1e6 - 978307200)
        elif rebuild:
            value = self.new_uuid(id, attribute)
        if follow:
            names = follow.split(".")
            ancestor = id
            for _ in range(max(1, names.count("^"))):
                ancestor = ancestor and self.parents[ancestor]
            found = [one for one in self.graph.schema.of_entity[self.graph.objects[ancestor].entity.number] if not one.is_relationship
                     and (one.name, one.type) == (names[-1], attribute.type)] if ancestor else []
            if found:
                return self.graph.objects[self.copies[ancestor]].values.get(found[0].key)
            return attribute.default() if (without or "").lower() == "blank" else value
        return value

    def run(self):
        self.walk()
        self.settle()
        for id in self.parents:  # parents come first
            original = self.graph.objects[id]
            copy = self.graph.add(self.copies[id], original.entity, original.is_stub)
            for attribute in self.graph.schema.of_entity[original.entity.number]:
                if attribute.is_stored:
                    copy.set(attribute.key, self.value(id, attribute))
        joined = []
        for id in sorted(self.parents):
            original = self.graph.objects[id]
            for end in self.graph.schema.properties:
                if end.is_relationship and self.has_links(original, end):
                    copies = self.graph.objects[self.copies[id]].of(end)
                    for member in original.of(end):
                        self.copy_link(original, end, member, copies, joined)
        for member, end, copy in joined:
            self.graph.objects[member].of(end).append(copy)

    def has_links(self, original, end):
        return self.graph.has(original, end) and original.of(end)

    def copy_link(self, original, end, member, copies, joined):
        rules = self.rule(original, end), self.rule(self.graph.objects[member], end.inverse)
        if member in self.copies:
            if COPY in rules or SKIP not in rules:
                copies.append(self.copies[member])
        elif rules[0] == SHARE and not self.is_copied_from_other_side(original, end):
            copies.append(member)
            joined.append((member, end.inverse, self.copies[original.id]))

    def is_copied_from_other_side(self, original, end):
        is_many = end.is_many and end.inverse.is_many
        return is_many and any(member in self.copies and self.rule(self.graph.objects[member], end.inverse) == COPY
                               for member in original.of(end))


class Replay(read_store.Store):
    def __init__(self, path):
        super().__init__(path)
        self.graph = Graph()

    def ops(self, payload):
        self.graph.transaction += 1
        OpReader(payload.data, self.graph).apply()
        return []

    def receive(self, transaction):
        require(transaction["ops"] is not None, "a transaction whose ops were retired")

    def summary(self):
        count = self.read()["transactions"]
        return {"transactions": count, "objects": len(self.graph.objects), "digest": "%032x" % self.graph.digest()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: replay_store.py STORE")
    STORE = Replay(sys.argv[1])
    try:
        print(json.dumps(STORE.summary(), separators=(",", ":")))
    except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
        sys.exit("replay_store.py: %s: %r in transaction %d" % (STORE.where, error, STORE.graph.transaction))
