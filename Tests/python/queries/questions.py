"""Random questions: a request to Cambium, and a function that asks SQLite for the answer."""
import json

from generator import FUNCTIONS, Generator
from model import ENTITIES

# The number of instructions of SQLite after which a question is abandoned.
STEP_COUNT_MAX = 200_000
SORTED = ["number", "string", "date", "bool"]


class Questions(Generator):
    def question(self):
        """Returns a request, and a function that returns the expected answer of a database."""
        self.begin()
        entity = self.random.choice(["Person"] * 5 + ["Item"] * 3 + ["City", "Tag", "Manager"])
        request, conditions = {"entity": entity}, []
        if entity == "Manager":
            conditions.append("t0.entity = 'Manager'")
        if self.chance(0.85):
            request["where"], sql = self.condition(entity, "t0", self.random.choice([0, 1, 2, 3]))
            conditions.append(sql)
        where = f"FROM {ENTITIES[entity][0]} t0 WHERE {' AND '.join(conditions or ['1'])}"
        kind = self.random.choice([self.objects, self.objects, self.objects, self.pages, self.values, self.groups])
        return kind(entity, where, request)

    def part(self, request):
        """Adds a limit and an offset. Returns the part of a list that they select."""
        if self.chance(0.4):
            request["limit"] = self.random.choice([0, 1, 2, 3, 10, 10, 50, 1000])
        if self.chance(0.25):
            request["offset"] = self.random.choice([0, 1, 2, 7, 40, 1000])
        first = request.get("offset", 0)
        last = first + request["limit"] if "limit" in request else None
        return lambda rows: rows[first:last]

    def order(self, entity, request):
        """Adds sort keys. Returns the ORDER BY clause."""
        texts, clauses = [], []
        for _ in range(self.random.choice([0, 0, 1, 1, 1, 2, 3])):
            if self.chance(0.2):
                text, sql, _, _ = self.aggregate(entity, "t0")
                group = "number" if "@count" in text or "@sum" in text or "@avg" in text else None
            else:
                text, sql, attribute = self.single(entity, "t0", SORTED)
                group = attribute.group
            mark = ""
            if group == "string" and self.chance(0.2):
                mark, sql = "[c]", f"folded({sql}, 'c')"
            descends, nulls = self.chance(0.4), self.random.choice([None, None, "first", "last"])
            texts.append(("-" if descends else "") + text + mark + (f" nulls {nulls}" if nulls else ""))
            first = nulls == "first" if nulls else not descends
            clauses.append(f"{sql} {'DESC' if descends else 'ASC'} NULLS {'FIRST' if first else 'LAST'}")
        if texts:
            request["sort"] = ",".join(texts)
        return "ORDER BY " + ", ".join(clauses + ["t0.pk"])

    def ask(self, sql):
        parameters = self.parameters

        def answer(base):
            # The handler interrupts questions for which SQLite takes too long.
            base.set_progress_handler(lambda: 1, STEP_COUNT_MAX)
            return [list(row) for row in base.execute(sql, parameters)]

        return answer

    # Kinds of questions

    def objects(self, entity, where, request):
        ask = self.ask(f"SELECT t0.pk {where} {self.order(entity, request)}")
        part = self.part(request)

        def expected(base):
            ids = part([row[0] for row in ask(base)])
            return {"ids": ids, "count": len(ids), "first": ids[0] if ids else None}

        return request, expected

    def pages(self, entity, where, request):
        ask = self.ask(f"SELECT t0.pk {where} {self.order(entity, request)}")
        # Few pages are enough.
        request["pageLimit"] = self.random.choice([40, 64, 100])
        return request, lambda base: {"ids": [row[0] for row in ask(base)]}

    def values(self, entity, where, request):
        texts, columns, is_list = [], [], []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            kind = self.random.random()
            if kind < 0.2:
                text, sql = self.aggregate(entity, "t0")[:2]
            elif kind < 0.35 and (name := self.linked(entity, False)):
                text, sql = name, self.hop(entity, name, "t0", lambda _, other: f"{other}.pk")
            elif kind < 0.5 and (name := self.linked(entity, True)):
                link, target = ENTITIES[entity][2][name], self.alias()
                source, condition = self.source(link, "t0", target)
                value, sql, _ = self.single(link.target, target, ["number", "string"], depth=0)
                text, sql = f"{name}.{value}", f"(SELECT json_group_array({sql}) FROM {source} WHERE {condition})"
            else:
                text, sql, _ = self.single(entity, "t0")
            texts.append(text)
            columns.append(sql)
            is_list.append("json_group_array" in sql)
        request["select"] = texts
        ask = self.ask(f"SELECT {', '.join(columns)} {where} {self.order(entity, request)}")
        is_distinct = not any(is_list) and self.chance(0.5)
        if is_distinct:
            request["distinct"] = "remove"
        part = self.part(request)

        def expected(base):
            rows = [[json.loads(value) if each else value for value, each in zip(row, is_list)] for row in ask(base)]
            if is_distinct:
                rows = [list(row) for row in dict.fromkeys(map(tuple, rows))]
            return {"rows": part(rows)}

        return request, expected

    def groups(self, entity, where, request):
        keys = {}
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])):
            if self.chance(0.2) and (name := self.linked(entity, False)):
                keys[name] = self.hop(entity, name, "t0", lambda _, other: f"{other}.pk")
            else:
                text, sql, _ = self.single(entity, "t0")
                keys[text] = sql
        functions, results, groups = {}, [], {}
        for _ in range(self.random.choice([1, 1, 2, 3])):
            name, sql, result, group = self.function(entity)
            if name not in functions:
                functions[name] = sql
                results.append(result.format(f"x{len(functions) - 1}"))
                groups[name.replace(" ", ".")] = group
        request["groupBy"], request["aggregates"] = list(keys), list(functions)
        names = list(keys) + [name.replace(" ", ".") for name in functions]
        inner = [f"{sql} AS k{index}" for index, sql in enumerate(keys.values())]
        inner += [f"{sql} AS x{index}" for index, sql in enumerate(functions.values())]
        outer = [f"k{index}" for index in range(len(keys))] + [f"{sql} AS a{index}" for index, sql in enumerate(results)]
        by = f"GROUP BY {', '.join(outer[:len(keys)])}" if keys else ""
        columns = [f"k{index}" for index in range(len(keys))] + [f"a{index}" for index in range(len(results))]
        having, order = self.having(groups, len(keys), request), self.group_order(names, columns, len(keys), request)
        ask = self.ask(f"SELECT * FROM (SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} {where}) {by}) {having} {order}")
        part = self.part(request)
        return request, lambda base: {"rows": part(ask(base))}

    def function(self, entity):
        """A function: its name, the SQL of a value of an object, the SQL of the result, and the group of types of the result."""
        kind = self.random.random()
        if kind < 0.3:
            return "count", "1", "count({})", "number"
        if kind < 0.4 and (name := self.linked(entity, True)):
            link, target = ENTITIES[entity][2][name], self.alias()
            source, condition = self.source(link, "t0", target)
            function = self.random.choice(["sum", "min", "max"])
            text, sql, attribute = self.summed(link.target, target, "sum")
            return f"{function} {name}.{text}", f"(SELECT {function}({sql}) FROM {source} WHERE {condition})", FUNCTIONS[function], "number"
        if kind < 0.5:
            text, sql = self.aggregate(entity, "t0", ["count"])[:2]
            function = self.random.choice(["sum", "avg", "max"])
            return f"{function} {text}", sql, FUNCTIONS[function], None
        function = self.random.choice(list(FUNCTIONS))
        text, sql, attribute = self.summed(entity, "t0", function)
        return f"{function} {text}", sql, FUNCTIONS[function], attribute.group if function in ("min", "max") else "number"

    def having(self, groups, key_count, request):
        names = [(index, name) for index, (name, group) in enumerate(groups.items()) if group == "number"]
        if not names or self.chance(0.6):
            return ""
        texts, conditions = [], []
        for _ in range(self.random.choice([1, 1, 2])):
            index, name = self.random.choice(names)
            relation, condition = self.relation("number", lambda: self.random.choice([0, 1, 2, 5, 20, 2.5, -3]))
            is_negated = self.chance(0.2)
            texts.append(f"not ({name}{relation})" if is_negated else f"({name}{relation})")
            conditions.append(f"{'NOT ' if is_negated else ''}{condition(f'a{index}')}")
        word = self.random.choice(["and", "or"])
        request["having"] = f" {word} ".join(texts)
        return "WHERE " + f" {word} ".join(conditions)

    def group_order(self, names, columns, key_count, request):
        clauses = []
        if self.chance(0.4):
            sort = []
            for index in self.random.sample(range(len(names)), self.random.choice([1, min(2, len(names))])):
                descends = self.chance(0.5)
                sort.append(("-" if descends else "") + names[index])
                clauses.append(f"{columns[index]} {'DESC NULLS LAST' if descends else 'ASC NULLS FIRST'}")
            request["sort"] = ",".join(sort)
        clauses += [f"{column} ASC NULLS FIRST" for column in columns[:key_count]]
        return f"ORDER BY {', '.join(clauses)}" if clauses else ""
