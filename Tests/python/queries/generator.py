"""Random queries, each as a text of Cambium and as SQL."""
from model import ENTITIES, folded, like, quoted

COMPARED = {"==": "IS", "!=": "IS NOT", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
SPELLINGS = {"==": ["==", "="], "!=": ["!=", "<>"], "<=": ["<=", "=<"], ">=": [">=", "=>"]}
FUNCTIONS = {"sum": "coalesce(sum({}), 0)", "min": "min({})", "max": "max({})", "avg": "avg({})", "countDistinct": "count(DISTINCT {})",
             "count": "count({})"}


class Generator:
    def __init__(self, random, data, serials):
        self.random, self.data, self.serials = random, data, serials
        self.parameters, self.alias_count = {}, 0

    def begin(self):
        self.parameters, self.alias_count = {}, 0

    def chance(self, share):
        return self.random.random() < share

    def alias(self):
        self.alias_count += 1
        return f"t{self.alias_count}"

    def bound(self, value):
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return ":" + name

    # Paths

    def linked(self, entity, many):
        """A relationship of an entity, or None."""
        names = [name for name, link in ENTITIES[entity][2].items() if link.many == many]
        return self.random.choice(names) if names else None

    def source(self, link, owner, target):
        """The FROM and the WHERE clause for the targets of a relationship."""
        more, condition = link.joined(owner, target)
        return f"{ENTITIES[link.target][0]} {target}" + (f" CROSS JOIN {more}" if more else ""), condition

    def hop(self, entity, name, alias, inner):
        """A subquery for a value of the only target of a relationship. `inner` makes the SQL of the value."""
        link, target = ENTITIES[entity][2][name], self.alias()
        source, condition = self.source(link, alias, target)
        return f"(SELECT {inner(link.target, target)} FROM {source} WHERE {condition})"

    def single(self, entity, alias, groups=None, depth=2):
        """A path over relationships to one object that ends at an attribute: (text, SQL, attribute)."""
        if depth and self.chance(0.25) and (name := self.linked(entity, False)):
            found = []

            def inner(target, other):
                found.append(self.single(target, other, groups, depth - 1))
                return found[0][1]

            sql = self.hop(entity, name, alias, inner)
            return f"{name}.{found[0][0]}", sql, found[0][2]
        attributes = {key: each for key, each in ENTITIES[entity][1].items() if groups is None or each.group in groups}
        if not attributes:
            return "id", f"{alias}.id", ENTITIES[entity][1]["id"]
        name = self.random.choice(list(attributes))
        return name, f"{alias}.{name}", attributes[name]

    def chain(self, entity, alias, *, many):
        """A path of one to three relationships: (names, joins, entity at the end, alias at the end). Each join is (FROM, WHERE)."""
        names, joins, length = [], [], self.random.choice([1, 1, 1, 2, 2, 3])
        while len(names) < length or many and not any(join[0].many for join in joins):
            wanted = self.chance(0.6) or len(names) >= length
            name = self.linked(entity, wanted) or self.linked(entity, not wanted)
            link, target = ENTITIES[entity][2][name], self.alias()
            joins.append((link, *self.source(link, alias, target)))
            names.append(name)
            entity, alias = link.target, target
        return names, joins, entity, alias

    def joined(self, joins):
        """The FROM and the WHERE clause of all objects at the end of a path."""
        return " CROSS JOIN ".join(join[1] for join in joins), " AND ".join(join[2] for join in joins)

    # Operands

    def literal(self, attribute):
        if attribute.group == "number" and self.chance(0.15):
            return self.random.choice([0.5, -1e300, 1e300, 2**63 - 1, -2**63, 9007199254740993, 1e-7, 30.0])
        return attribute.draw(self.random)

    def aggregate(self, entity, alias, functions=None):
        """A function of related objects: (text, SQL, group of types, drawing attribute)."""
        names, joins, end, last = self.chain(entity, alias, many=True)
        path, (source, condition) = ".".join(names), self.joined(joins)
        function = self.random.choice(functions or ["count", "count", *FUNCTIONS])
        if function == "count":
            return f"{path}.@count", f"(SELECT count(*) FROM {source} WHERE {condition})", "number", ENTITIES["Item"][1]["amount"]
        text, sql, attribute = self.summed(end, last, function)
        drawn = attribute
        if function == "countDistinct":
            drawn = ENTITIES["Item"][1]["amount"]
        return (f"{path}.@{function}.{text}", f"(SELECT {FUNCTIONS[function].format(sql)} FROM {source} WHERE {condition})",
                drawn.group if function in ("min", "max") else "number", drawn)

    def summed(self, entity, alias, function):
        """A path to the values of a function."""
        while True:
            text, sql, attribute = self.single(entity, alias, ["number"] if function in ("sum", "avg") else None, depth=1)
            # A mean of large numbers depends on the order of the additions.
            if attribute.sums or function not in ("sum", "avg"):
                return text, sql, attribute

    def object(self, entity):
        root = "Person" if entity == "Manager" else entity
        number = self.random.choice(list(self.serials[root].items()))
        return f"{self.data.name(root, number[0])}/{number[1]}", number[1]

    # Relations: each returns the text after the left operand, and SQL that is 0 or 1 for the SQL of the left operand.

    def relation(self, group, literal, other=None, *, has_patterns=True):
        """- literal: draws a value. - other: draws (text, SQL) of a second path, or None."""
        def right():
            if other and self.chance(0.12) and (drawn := other()):
                return drawn
            value = None if self.chance(0.05) else literal()
            return quoted(value, self.random), self.bound(value)

        kinds = ["compare"] * 3 + ["in"]
        if group not in ("bool", "object"):
            kinds += ["between"]
        if group == "string":
            kinds += ["text"] * 4 + ["pattern"] * (2 if has_patterns else 0)
        kind = self.random.choice(kinds)
        options = self.random.choice(["", "", "", "c", "d", "cd"]) if group == "string" else ""
        mark = f"[{options}]" if options else ""

        def fold(sql):
            return f"folded({sql}, '{options}')" if options else sql

        if kind == "compare":
            names = list(COMPARED) if group not in ("bool", "object") else ["==", "!="]
            name = self.random.choice(names)
            text, sql = right()
            return f" {self.random.choice(SPELLINGS.get(name, [name]))}{mark} {text}", lambda left: (
                f"coalesce({fold(left)} {COMPARED[name]} {fold(sql)}, 0)")
        if kind == "in":
            elements = [right() for _ in range(self.random.choice([0, 1, 2, 3, 8]))]
            open, close = self.random.choice(["{}", "[]", "()"])
            if options:
                open, close = "{}"
            return f" in{mark} {open}{', '.join(text for text, _ in elements)}{close}", lambda left: (
                "(" + " OR ".join(["0"] + [f"coalesce({fold(left)} = {fold(sql)}, 0)" for _, sql in elements]) + ")")
        if kind == "between":
            (low, low_sql), (high, high_sql) = right(), right()
            return f" between{mark} {{{low}, {high}}}", lambda left: (
                f"(coalesce({fold(left)} >= {fold(low_sql)}, 0) AND coalesce({fold(left)} <= {fold(high_sql)}, 0))")
        if kind == "text":
            return self.text_part(mark, fold, right)
        return self.pattern(mark, options, literal)

    def text_part(self, mark, fold, right):
        name = self.random.choice(["contains", "beginswith", "endswith"])
        text, sql = right()

        def condition(left):
            # Bytes are compared, as in Cambium.
            whole, part = f"CAST({fold(left)} AS BLOB)", f"CAST({fold(sql)} AS BLOB)"
            if name == "contains":
                found = f"instr({whole}, {part}) > 0"
            else:
                start = "1" if name == "beginswith" else f"length({whole}) - length({part}) + 1"
                found = f"length({part}) <= length({whole}) AND substr({whole}, {start}, length({part})) = {part}"
            # SQLite has no pointer to the bytes of an empty text, and treats it as null.
            return f"coalesce(length({part}) = 0 AND {left} IS NOT NULL OR {found}, 0)"

        return f" {name}{mark} {text}", condition

    def pattern(self, mark, options, literal):
        if self.chance(0.7):
            text = "".join(self.random.choice([each, each, each, "?", "*", "*" + each]) for each in literal())
            pattern = self.random.choice(["*", ""]) + text + self.random.choice(["*", ""])
            expression = like(folded(pattern, options))
            return f" like{mark} {quoted(pattern, self.random)}", lambda left: f"matches({left}, {self.bound(expression)}, '{options}')"
        expression = self.random.choice(["a.*", ".*b", "[a-c]+", "(?:ab|zoe|9)+", ".", "..", "[^a]*", ""])
        return f" matches {quoted(expression, self.random)}", lambda left: f"matches({left}, {self.bound(expression)}, '')"

    # Conditions

    def condition(self, entity, alias, depth=2):
        if depth and self.chance(0.45):
            return self.compound(entity, alias, depth)
        kinds = [self.plain] * 6 + [self.quantified] * 3 + [self.related] * 2 + [self.computed] * 3 + [self.identified] * 2
        return self.random.choice(kinds)(entity, alias, depth)

    def compound(self, entity, alias, depth):
        if self.chance(0.3):
            text, sql = self.condition(entity, alias, depth - 1)
            return f"not ({text})", f"(NOT {sql})"
        word = self.random.choice(["and", "or"])
        parts = [self.condition(entity, alias, depth - 1) for _ in range(self.random.choice([2, 2, 3]))]
        sign = self.random.choice([word, {"and": "&&", "or": "||"}[word]])
        return f" {sign} ".join(f"({text})" for text, _ in parts), "(" + f" {word} ".join(sql for _, sql in parts) + ")"

    def plain(self, entity, alias, depth):
        text, sql, attribute = self.single(entity, alias)
        relation, condition = self.relation(
            attribute.group, lambda: self.literal(attribute), lambda: self.alike(entity, alias, attribute.group))
        return text + relation, condition(sql)

    def alike(self, entity, alias, group):
        """A path to a value that can be compared with a group of types: (text, SQL), or None."""
        text, sql, attribute = self.single(entity, alias, [group])
        return (text, sql) if attribute.group == group else None

    def quantified(self, entity, alias, depth):
        quantifier = self.random.choice(["any", "some", "all", "none"])
        names, joins, end, last = self.chain(entity, alias, many=True)
        text, value, attribute = self.single(end, last, depth=0)
        relation, condition = self.relation(attribute.group, lambda: self.literal(attribute))
        sql = self.exists(joins, condition, value, quantifier == "all")
        path = ".".join(names)
        return f"{quantifier} {path}.{text}{relation}", sql if quantifier in ("any", "some") else f"(NOT {sql})"

    def exists(self, joins, condition, value, is_negated):
        """Whether a value satisfies a condition. A path to one object that ends early has the value null."""
        depth = max(index for index, join in enumerate(joins) if join[0].many) + 1
        inner = value
        for link, source, where in reversed(joins[depth:]):
            inner = f"(SELECT {inner} FROM {source} WHERE {where})"
        source, where = self.joined(joins[:depth])
        return f"EXISTS (SELECT 1 FROM {source} WHERE {where} AND {'NOT ' if is_negated else ''}{condition(inner)})"

    def related(self, entity, alias, depth):
        quantifier = self.random.choice(["any", "some", "all", "none"])
        names, joins, end, last = self.chain(entity, alias, many=True)
        text, sql = self.condition(end, last, max(0, depth - 1))
        source, where = self.joined(joins)
        found = f"EXISTS (SELECT 1 FROM {source} WHERE {where} AND {'NOT ' if quantifier == 'all' else ''}{sql})"
        return f"{quantifier} {'.'.join(names)} where ({text})", found if quantifier in ("any", "some") else f"(NOT {found})"

    def computed(self, entity, alias, depth):
        text, sql, group, attribute = self.aggregate(entity, alias)
        draw = (lambda: self.random.choice([0, 0, 1, 2, 3, 6, 1.5, -1])) if "@count" in text else lambda: self.literal(attribute)
        relation, condition = self.relation(group, draw, lambda: self.alike(entity, alias, group),
                                            has_patterns=False)
        return text + relation, condition(sql)

    def identified(self, entity, alias, depth):
        kind = self.random.choice(["self", "link", "contains", "entity"])
        if kind == "link" and (name := self.linked(entity, False)):
            target = ENTITIES[entity][2][name].target
            objects = dict(self.object(target) for _ in range(3))
            sql = self.hop(entity, name, alias, lambda _, other: f"{other}.pk")
            relation, condition = self.relation("object", lambda: Name(self.random.choice(list(objects))))
            return name + relation, self.resolved(condition(sql), objects)
        if kind == "contains":
            name = self.linked(entity, True)
            if name:
                text, serial = self.object(ENTITIES[entity][2][name].target)
                link, target = ENTITIES[entity][2][name], self.alias()
                source, where = self.source(link, alias, target)
                sql = f"EXISTS (SELECT 1 FROM {source} WHERE {where} AND {target}.pk = {self.bound(serial)})"
                return self.random.choice([f"{name} contains {text}", f"{text} in {name}", f"any {name} == {text}"]), sql
        if kind == "entity" and entity in ("Person", "Manager"):
            relation, condition = self.relation("bool", lambda: self.random.choice(["Person", "Manager"]))
            return "_entity" + relation, condition(f"{alias}.entity")
        objects = dict(self.object(entity) for _ in range(4))
        relation, condition = self.relation("object", lambda: Name(self.random.choice(list(objects))))
        return self.random.choice(["self", "_id"]) + relation, self.resolved(condition(f"{alias}.pk"), objects)

    def resolved(self, sql, objects):
        """Replaces the names of objects among the parameters by their serials."""
        for name, value in self.parameters.items():
            if isinstance(value, Name):
                self.parameters[name] = objects[value.text]
        return sql


class Name:
    """The name of an object, which is a literal without quotation marks."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text
