"""The schema of the random data, the data, and their copy in SQLite."""
import json
import re
import sqlite3
import unicodedata

TEXTS = ["", "a", "A", "ab", "Ab", "abc", "b", "ba", "zoe", "Zoë", "zoe\u0308", "zo\u0308", "\u0308", "ÁRBOL", "árbol", "arbol", "a%b",
         "a_b", "a*b", "a?b", "a\\b", "日本", "日本語", "😀", "😀a", "a😀", "\u00e9", "e\u0301", "x\ny", "\"quoted\"", "it's", "a b", "  ",
         "Ω", "ω", "zz" * 20, "a long text that does not fit in a small cell", "a long text that does not fit in a small cellar", "0", "10",
         "9", "true", "null"]
LARGE = [2**53, 2**53 + 1, 2**53 - 1, -2**53, -2**53 - 1, 0, 1, -1, 10**15, 2**31, -2**31]


class Attribute:
    def __init__(self, kind, draw, *, sums=True):
        self.kind, self.draw, self.sums = kind, draw, sums

    @property
    def group(self):
        """Values of types of one group can be compared with each other."""
        return "number" if self.kind in ("int16", "int32", "int64", "float", "double") else self.kind


def small(random):
    return random.randint(-20, 60)


def quarter(random):
    return random.choice([-0.0, 0.0, 0.25, -0.25, 1.5, 1e6, random.randint(-200, 400) / 4])


def date(random):
    year = random.choice([1, 1969, 1970, 1999, 2026, 9999])
    return f"{year:04}-0{random.randint(1, 3)}-2{random.randint(0, 8)}T1{random.randint(0, 2)}:00:59Z"


def text(random):
    return random.choice(TEXTS)


def flag(random):
    return random.random() < 0.5


class Link:
    """A relationship. `table` has the pairs of a relationship of many to many; otherwise a column of one side has the link."""

    def __init__(self, target, many=False, inverse=None, *, column=None, back=None, pairs=None):
        self.target, self.many, self.inverse, self.column, self.back, self.pairs = target, many, inverse, column, back, pairs

    def joined(self, owner, target):
        """Returns a further table of the FROM clause, or None, and the condition of the join."""
        if self.pairs:
            table, mine, other = self.pairs
            return f"{table} {target}p", f"{target}p.{mine} = {owner}.pk AND {target}p.{other} = {target}.pk"
        return None, f"{target}.pk = {owner}.{self.column}" if self.column else f"{target}.{self.back} = {owner}.pk"


PERSON = {
    "id": Attribute("int64", small), "age": Attribute("int32", small), "size": Attribute("int16", small),
    "height": Attribute("double", quarter), "rank": Attribute("float", quarter),
    "balance": Attribute("int64", lambda random: random.choice(LARGE), sums=False), "name": Attribute("string", text),
    "nick": Attribute("string", text), "retired": Attribute("bool", flag), "born": Attribute("date", date),
}
PERSON_LINKS = {
    "city": Link("City", inverse="residents", column="city"), "boss": Link("Person", inverse="staff", column="boss"),
    "staff": Link("Person", True, "boss", back="boss"), "items": Link("Item", True, "owner", back="owner"),
    "tags": Link("Tag", True, "people", pairs=("person_tag", "person", "tag")),
    "friends": Link("Person", True, "friendOf", pairs=("friend", "person", "other")),
    "friendOf": Link("Person", True, "friends", pairs=("friend", "other", "person")),
}
# Each entity: its table, its attributes, its relationships.
ENTITIES = {
    "Person": ("person", PERSON, PERSON_LINKS),
    "Manager": ("person", PERSON | {"grade": Attribute("int32", small)},
                PERSON_LINKS | {"seat": Link("City", inverse="mayor", back="mayor")}),
    "City": ("city", {"id": Attribute("int64", small), "name": Attribute("string", text), "people": Attribute("int64", small)},
             {"residents": Link("Person", True, "city", back="city"), "mayor": Link("Manager", inverse="seat", column="mayor")}),
    "Item": ("item", {"id": Attribute("int64", small), "price": Attribute("double", quarter), "amount": Attribute("int32", small),
                      "label": Attribute("string", text), "done": Attribute("bool", flag), "due": Attribute("date", date)},
             {"owner": Link("Person", inverse="items", column="owner")}),
    "Tag": ("tag", {"id": Attribute("int64", small), "name": Attribute("string", text), "weight": Attribute("float", quarter)},
            {"people": Link("Person", True, "tags", pairs=("person_tag", "tag", "person"))}),
}
INDEXES = {
    "Person": [["age"], ["-height"], ["name"], ["name[c]", "age"], ["retired", "-age"], ["born"], ["-balance", "name"], ["rank", "-size"],
               ["size", "nick"], ["-nick[c]"]],
    "Item": [["price"], ["label", "-amount"], ["-due"], ["done", "price"]], "City": [["people"], ["name"]], "Tag": [["-weight"]],
}
ROOTS = ["Person", "City", "Item", "Tag"]


def schema(random):
    """The schema in JSON, with a part of the indexes."""
    entities = {}
    for name, (_, attributes, links) in ENTITIES.items():
        inherited = (PERSON, PERSON_LINKS) if name == "Manager" else ({}, {})
        described = {key: {"type": each.kind} | ({} if key == "id" else {"optional": True})
                     for key, each in attributes.items() if key not in inherited[0]}
        related = {key: {"to": each.target, "inverse": each.inverse} | ({"many": True} if each.many else {})
                   for key, each in links.items() if key not in inherited[1]}
        entities[name] = {"attributes": described, "relationships": related}
        if name == "Manager":
            entities[name]["parent"] = "Person"
        else:
            entities[name] |= {"identity": ["id"], "indexes": [each for each in INDEXES[name] if random.random() < 0.6]}
    return {"entities": entities}


class Data:
    """The rows of all entities by their identities. An object without a row does not exist."""

    def __init__(self, random, count):
        self.random = random
        self.rows = {"Person": {}, "City": {}, "Item": {}, "Tag": {}}
        self.managers = set(random.sample(range(1, count + 1), count // 6))
        self.null_share = random.choice([0, 0.1, 0.3])
        counts = {"Person": count, "City": count // 10, "Item": 2 * count, "Tag": count // 12}
        for entity in ROOTS:
            for number in range(1, counts[entity] + 1):
                self.rows[entity][number] = self.attributes(entity, number)
        for entity in ROOTS:
            for number in self.rows[entity]:
                self.link(entity, number)

    def name(self, entity, number):
        return "Manager" if entity == "Person" and number in self.managers else entity

    def attributes(self, entity, number):
        described = ENTITIES[self.name(entity, number)][1]
        drawn = {key: None if self.random.random() < self.null_share else each.draw(self.random) for key, each in described.items()}
        return drawn | {"id": number}

    def link(self, entity, number):
        random, row = self.random, self.rows[entity][number]

        def some(target, share=0.8):
            return random.choice(list(self.rows[target])) if self.rows[target] and random.random() < share else None

        def several(target):
            wanted = random.choice([0, 0, 1, 2, 3, 6])
            return sorted(random.sample(list(self.rows[target]), min(wanted, len(self.rows[target]))))

        if entity == "Person":
            row |= {"city": some("City"), "boss": some("Person"), "tags": several("Tag"), "friends": several("Person")}
        elif entity == "Item":
            row["owner"] = some("Person")
        elif entity == "City":
            # Each manager is the mayor of one city.
            row["mayor"] = number if number in self.managers and number in self.rows["Person"] else None

    def change(self):
        """Changes about half of the rows, deletes some, and inserts some. Returns the deleted identities of each entity."""
        deleted = {}
        for entity in ROOTS:
            rows = self.rows[entity]
            deleted[entity] = [number for number in rows if self.random.random() < 0.1]
            for number in deleted[entity]:
                del rows[number]
            first = max(rows, default=0) + 1000
            for number in range(first, first + len(rows) // 8):
                rows[number] = self.attributes(entity, number)
        for entity in ROOTS:
            for number in self.rows[entity]:
                if number >= 1000 or self.random.random() < 0.5:
                    old = self.rows[entity][number]
                    self.rows[entity][number] = self.attributes(entity, number) | {k: v for k, v in old.items() if k in ENTITIES[entity][2]}
                    self.link(entity, number)
        for entity in ROOTS:
            for row in self.rows[entity].values():
                for key, link in ENTITIES[entity][2].items():
                    known = self.rows.get("Person" if link.target == "Manager" else link.target)
                    if isinstance(row.get(key), list):
                        row[key] = [each for each in row[key] if each in known]
                    elif row.get(key) not in known:
                        row[key] = None
        return deleted

    def imports(self):
        """Yields the entity and the rows of each import."""
        people = self.rows["Person"]
        # The entity of a person must be known before another row refers to the person.
        for entity in ("Manager", "Person"):
            yield entity, [{k: v for k, v in row.items() if k not in ("city", "boss", "tags", "friends")}
                           for number, row in people.items() if self.name("Person", number) == entity]
        for entity in ("City", "Tag"):
            yield entity, list(self.rows[entity].values())
        for entity in ("Manager", "Person"):
            yield entity, [{k: row.get(k) for k in ("id", "city", "boss", "tags", "friends")}
                           for number, row in people.items() if self.name("Person", number) == entity]
        yield "Item", list(self.rows["Item"].values())


def folded(value, options):
    if value is None:
        return None
    if "d" in options:
        value = "".join(each for each in unicodedata.normalize("NFD", value) if unicodedata.category(each) != "Mn")
    return value.casefold() if "c" in options else value


def like(pattern):
    """The regular expression of a pattern with `*` and `?`."""
    pieces = re.findall(r"\\.|.|\\", pattern, re.S)
    return "(?s:" + "".join({"*": ".*", "?": "."}.get(each, re.escape(each[-1])) for each in pieces) + ")"


def matches(value, pattern, options):
    if value is None:
        return 0
    return int(re.fullmatch(pattern, folded(value, options)) is not None)


def database(data, serials):
    """A copy of the data in SQLite. The primary key of a row is its serial."""
    base = sqlite3.connect(":memory:")
    base.create_function("folded", 2, folded, deterministic=True)
    base.create_function("matches", 3, matches, deterministic=True)
    for entity in ROOTS:
        table, attributes, links = ENTITIES["Manager" if entity == "Person" else entity]
        columns = list(attributes) + [key for key, link in links.items() if link.column]
        # Columns without a type keep the values unchanged.
        base.execute(f"CREATE TABLE {table}(pk INTEGER PRIMARY KEY, entity, {', '.join(columns)})")
        for number, row in data.rows[entity].items():
            values = []
            for key in columns:
                value = row.get(key)
                if key in links and value is not None:
                    value = serials["Person" if links[key].target == "Manager" else links[key].target][value]
                values.append(value)
            marks = ", ".join("?" * (len(columns) + 2))
            base.execute(f"INSERT INTO {table} VALUES({marks})", [serials[entity][number], data.name(entity, number), *values])
    pairs = [("person_tag", "tags", "person", "tag", "Tag"), ("friend", "friends", "person", "other", "Person")]
    for table, key, mine, other, target in pairs:
        base.execute(f"CREATE TABLE {table}({mine}, {other}, PRIMARY KEY({mine}, {other})) WITHOUT ROWID")
        base.execute(f"CREATE INDEX {table}_{other} ON {table}({other})")
        for number, row in data.rows["Person"].items():
            for each in row[key]:
                base.execute(f"INSERT INTO {table} VALUES(?, ?)", [serials["Person"][number], serials[target][each]])
    for table, column in [("person", "city"), ("person", "boss"), ("city", "mayor"), ("item", "owner")]:
        base.execute(f"CREATE INDEX {table}_{column} ON {table}({column})")
    return base


def quoted(value, random):
    """A literal of the query language."""
    if value is None:
        return random.choice(["null", "nil"])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=random.random() < 0.3)
    return repr(value)
