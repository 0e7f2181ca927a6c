import Cambium
import CambiumModel
import TestFixtures
import Testing

/// Tests of the sources from which a copy takes the values of its attributes.
@Suite struct `Attributes of clones` {
    /// Makes a chain of nodes linked by `down`, with an `id` that is rebuilt and with the given attributes.
    private func chain(_ attributes: String, _ lines: String) throws -> CloneFixture {
        let down = #""down": {"to": "Node", "many": true, "inverse": "up"}, "up": {"to": "Node", "inverse": "down"}"#
        let id = #""id": {"type": "uuid", "optional": true, "userInfo": {"rebuild": "uuid"}}"#
        return try CloneFixture(CloneModels.schema(node: down, attributes: id + ", " + attributes), lines)
    }

    private func schemaError(_ attributes: String) -> CambiumError.Code? {
        code { _ = try chain(attributes, "") }
    }

    @Test func `a clone of a whole note applies every rule of its model`() throws {
        let fixture = try CloneFixture(CloneModels.notes, CloneModels.wholeNote)
        let copied = #""createDate":"$now","data":"AQID","derived":5,"id":"$new1","index":7,"name":"n","transient":false"#
        let clone = try fixture.clone(
            "Note/1",
            gives: #"""
                {"_id":"Note/3",\#(copied),"items":["Item/3","Item/4"],"memos":["Memo/5","Memo/4"],"noteDescription":"NoteDescription/2"}
                {"_id":"Item/3","index":0,"name":"i1","noteIDBlank":"$new1","noteIDKeep":"$new1","note":"Note/3",\#(tags(1))}
                {"_id":"Item/4","index":0,"name":"i2","noteIDBlank":"$new1","noteIDKeep":"$new1","note":"Note/3",\#(tags(1, 2))}
                {"_id":"Memo/4","text":"m1","note":"Note/3"}
                {"_id":"Memo/5","text":"m2","note":"Note/3"}
                {"_id":"NoteDescription/2","content":"d","note":"Note/3"}
                {"_id":"ToManyTag/1","name":"red","items":["Item/1","Item/2","Item/3","Item/4"]}
                {"_id":"ToManyTag/2","name":"blue","items":["Item/2","Item/4"]}
                {"_id":"ToOneTag/1","name":"one","items":["Item/1","Item/2","Item/3","Item/4"]}
                """#)
        let counts = clone.summary.counts.map { "\($0.entity.name) \($0.count)" }
        #expect(counts == ["Note 1", "Item 2", "Memo 2", "NoteDescription 1"])
    }

    private func tags(_ numbers: Int...) -> String {
        #""toManyTags":[\#(numbers.map { #""ToManyTag/\#($0)""# }.joined(separator: ","))],"toOneTag":"ToOneTag/1""#
    }

    @Test func `values of every type are copied as they are stored`() throws {
        let values: KeyValuePairs = [
            "bool": "true", "int16": "-3", "int32": "70000", "int64": "-9007199254740993", "float": "0.1", "double": "0.1",
            "decimal": "1.10", "string": #""\u0000 e\u0301 \ud83c\udf31""#, "data": #""AAECAw==""#, "date": #""2026-01-31T12:00:00.125Z""#,
            "uuid": #""$a""#, "uri": #""urn:x""#, "json": #"{"a":[1,1.0,null]}"#,
        ]
        let attributes = values.map { #""x-\#($0.key)": {"type": "\#($0.key)", "optional": true}"# }.joined(separator: ", ")
        let members = values.map { #""x-\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        let fixture = try chain(attributes, #"{"_id":"Node/1",\#(members)}"# + "\n" + #"{"_id":"Node/2"}"#)
        let first = try #require(fixture.lines["Node/1"]).replacing("Node/1", with: "Node/3").dropLast()
        try fixture.clone("Node/1", "Node/2", gives: first + #","id":"$new1"}"# + "\n" + #"{"_id":"Node/4","id":"$new2"}"#)
    }

    // MARK: exclude

    @Test func `an excluded attribute gets its default or null, whatever the value of the key is`() throws {
        let fixture = try chain(
            #"""
            "a": {"type": "int32", "default": 5, "userInfo": {"exclude": "false"}},
            "b": {"type": "int32", "optional": true, "userInfo": {"exclude": ""}},
            "c": {"type": "string", "default": "c", "userInfo": {"exclude": "yes"}}
            """#, #"{"_id":"Node/1","a":1,"b":2,"c":"x"}"#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/2","id":"$new1","a":5,"c":"c"}"#)
    }

    @Test func `a schema is refused if an excluded mandatory attribute has no default`() {
        #expect(schemaError(#""a": {"type": "int32", "userInfo": {"exclude": ""}}"#) == .invalidInput)
    }

    // MARK: rebuild

    @Test func `rebuilt UUIDs all differ, and rebuilt times are all the same`() throws {
        let fixture = try chain(
            #"""
            "other": {"type": "uuid", "userInfo": {"rebuild": "UUID"}}, "when": {"type": "date", "userInfo": {"rebuild": "Now"}}
            """#,
            #"""
            {"_id":"Node/1","id":"$a","other":"$b","when":"2001-01-01T00:00:00Z","down":["Node/2"]}
            {"_id":"Node/2","id":"$c","other":"$d","when":"2001-01-01T00:00:00Z"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/3","id":"$new1","other":"$new2","when":"$now","down":["Node/4"]}
                {"_id":"Node/4","id":"$new3","other":"$new4","when":"$now","up":"Node/3"}
                """#)
    }

    @Test func `an attribute is rebuilt even if the original has no value`() throws {
        let fixture = try chain(#""when": {"type": "date", "optional": true, "userInfo": {"rebuild": "now"}}"#, #"{"_id":"Node/1"}"#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/2","id":"$new1","when":"$now"}"#)
    }

    @Test(arguments: [
        #""a": {"type": "string", "optional": true, "userInfo": {"rebuild": "uuid"}}"#,
        #""a": {"type": "int64", "optional": true, "userInfo": {"rebuild": "now"}}"#,
        #""a": {"type": "uuid", "optional": true, "userInfo": {"rebuild": "fresh"}}"#,
        #""a": {"type": "uuid", "optional": true, "userInfo": {"rebuild": ""}}"#,
    ])
    func `a schema is refused if a rebuild word is unknown or does not fit the type`(attribute: String) {
        #expect(schemaError(attribute) == .invalidInput)
    }

    // MARK: followParent

    @Test func `a followed value comes from the copy of the parent or of an ancestor, even if it is rebuilt there`() throws {
        let fixture = try chain(
            #"""
            "above": {"type": "uuid", "optional": true, "userInfo": {"followParent": "id", "withoutParent": "blank"}},
            "same": {"type": "uuid", "optional": true, "userInfo": {"followParent": "^.id", "withoutParent": "blank"}},
            "top": {"type": "uuid", "optional": true, "userInfo": {"followParent": "^.^.id", "withoutParent": "blank"}},
            "label": {"type": "string", "optional": true, "userInfo": {"followParent": "name", "withoutParent": "keep"}}
            """#,
            #"""
            {"_id":"Node/1","id":"$a","name":"A","label":"x","down":["Node/2"]}
            {"_id":"Node/2","id":"$b","name":"B","label":"y","down":["Node/3"],"above":"$z"}
            {"_id":"Node/3","id":"$c","name":"C","top":"$a"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/4","id":"$new1","name":"A","label":"x","down":["Node/5"]}
                {"_id":"Node/5","id":"$new2","name":"B","label":"A","above":"$new1","same":"$new1","up":"Node/4","down":["Node/6"]}
                {"_id":"Node/6","id":"$new3","name":"C","label":"B","above":"$new2","same":"$new2","top":"$new1","up":"Node/5"}
                """#)
    }

    @Test func `a followed attribute may itself follow another one`() throws {
        let fixture = try chain(
            #""label": {"type": "string", "optional": true, "userInfo": {"followParent": "label", "withoutParent": "keep"}}"#,
            #"""
            {"_id":"Node/1","label":"top","down":["Node/2"]}
            {"_id":"Node/2","label":"x","down":["Node/3"]}
            {"_id":"Node/3","label":"y"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/4","id":"$new1","label":"top","down":["Node/5"]}
                {"_id":"Node/5","id":"$new2","label":"top","up":"Node/4","down":["Node/6"]}
                {"_id":"Node/6","id":"$new3","label":"top","up":"Node/5"}
                """#)
    }

    @Test func `a null of the parent is followed like any other value`() throws {
        let fixture = try chain(
            #""label": {"type": "string", "optional": true, "userInfo": {"followParent": "name", "withoutParent": "keep"}}"#,
            #"{"_id":"Node/1","down":["Node/2"]}"# + "\n" + #"{"_id":"Node/2","name":"b","label":"x"}"#)
        try fixture.clone(
            "Node/1",
            gives: #"{"_id":"Node/3","id":"$new1","down":["Node/4"]}"# + "\n" + #"{"_id":"Node/4","id":"$new2","name":"b","up":"Node/3"}"#)
    }

    @Test func `followParent takes precedence over rebuild if it resolves, and exclude over both`() throws {
        let rules = #""rebuild": "uuid", "followParent": "id", "withoutParent": "keep""#
        let fixture = try chain(
            #"""
            "both": {"type": "uuid", "optional": true, "userInfo": {\#(rules)}},
            "all": {"type": "uuid", "optional": true, "userInfo": {"exclude": "", \#(rules)}}
            """#,
            #"""
            {"_id":"Node/1","id":"$a","both":"$b","all":"$c","down":["Node/2"]}
            {"_id":"Node/2","id":"$d","both":"$e","all":"$f"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/3","id":"$new1","both":"$new2","down":["Node/4"]}
                {"_id":"Node/4","id":"$new3","both":"$new1","up":"Node/3"}
                """#)
    }

    // MARK: withoutParent

    @Test func `keep retains the original value without a parent, and blank sets the default or null`() throws {
        let fixture = try chain(
            #"""
            "kept": {"type": "string", "optional": true, "userInfo": {"followParent": "name", "withoutParent": "Keep"}},
            "blank": {"type": "string", "optional": true, "userInfo": {"followParent": "name", "withoutParent": "blank"}},
            "standard": {"type": "string", "default": "s", "userInfo": {"followParent": "name", "withoutParent": "blank"}}
            """#, #"{"_id":"Node/1","name":"n","kept":"k","blank":"b","standard":"x"}"#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/2","id":"$new1","name":"n","kept":"k","standard":"s"}"#)
    }

    @Test func `an item that is cloned alone keeps or loses the id of its note, as its attributes state`() throws {
        let fixture = try CloneFixture(CloneModels.notes, CloneModels.wholeNote)
        let note = #""createDate":"2020-01-01T00:00:00Z","data":"AQID","derived":5,"id":"$a","index":7,"name":"n","transient":false"#
        let rest = #""memos":["Memo/2","Memo/1"],"noteDescription":"NoteDescription/1""#
        try fixture.clone(
            "Item/1",
            gives: #"""
                {"_id":"Item/3","index":0,"name":"i1","noteIDKeep":"$a","note":"Note/1",\#(tags(1))}
                {"_id":"Note/1",\#(note),"items":["Item/1","Item/2","Item/3"],\#(rest)}
                {"_id":"ToManyTag/1","name":"red","items":["Item/1","Item/2","Item/3"]}
                {"_id":"ToOneTag/1","name":"one","items":["Item/1","Item/2","Item/3"]}
                """#)
    }

    @Test func `a clone without a parent and without withoutParent fails and names the path`() throws {
        let fixture = try chain(
            #""above": {"type": "uuid", "optional": true, "userInfo": {"followParent": "^.^.id"}}"#,
            #"{"_id":"Node/1","down":["Node/2"]}"# + "\n" + #"{"_id":"Node/2","down":[]}"#)
        try fixture.expectRefusal(.ruleViolated, of: "Node/1", mentioning: "Node/1", "above", "^.^.id")
    }

    @Test func `a schema is refused if blank lacks a default, or if a followed path is unknown or of another type`() {
        #expect(schemaError(#""a": {"type": "uuid", "userInfo": {"followParent": "id", "withoutParent": "blank"}}"#) == .invalidInput)
        #expect(schemaError(#""a": {"type": "string", "optional": true, "userInfo": {"followParent": "id"}}"#) == .invalidInput)
        #expect(schemaError(#""a": {"type": "uuid", "optional": true, "userInfo": {"followParent": "nope"}}"#) == .invalidInput)
    }

    // MARK: The request

    @Test func `values of a request override every rule and are followed`() throws {
        let fixture = try chain(
            #"""
            "size": {"type": "int32", "default": 5, "userInfo": {"exclude": ""}},
            "above": {"type": "uuid", "optional": true, "userInfo": {"followParent": "id", "withoutParent": "blank"}}
            """#,
            #"{"_id":"Node/1","id":"$a","name":"n","size":1,"down":["Node/2"]}"# + "\n" + #"{"_id":"Node/2","id":"$b","name":"m"}"#)
        let given = try Value(json: CloneNames.unnamed(.string("$x")), type: .uuid)
        try fixture.clone(
            "Node/1", with: CloneRequest(rootValues: ["id": given, "size": .int(9), "name": .null, "above": given]),
            gives: #"""
                {"_id":"Node/3","id":"$x","size":9,"above":"$x","down":["Node/4"]}
                {"_id":"Node/4","id":"$new1","name":"m","size":5,"above":"$x","up":"Node/3"}
                """#)
    }

    @Test func `the four keys can be renamed, and their usual names then mean nothing`() throws {
        let fixture = try chain(
            #"""
            "a": {"type": "int32", "optional": true, "userInfo": {"leaveOut": ""}},
            "b": {"type": "uuid", "optional": true, "userInfo": {"renew": "uuid"}},
            "c": {"type": "uuid", "optional": true, "userInfo": {"above": "b", "orphan": "blank"}},
            "d": {"type": "int32", "optional": true, "userInfo": {"exclude": ""}}
            """#,
            #"""
            {"_id":"Node/1","id":"$a","a":1,"b":"$b","c":"$c","d":4,"down":["Node/2"]}
            {"_id":"Node/2","id":"$d","a":1,"b":"$e","c":"$f","d":4}
            """#)
        let keys = CloneKeys(exclude: "leaveOut", rebuild: "renew", followParent: "above", withoutParent: "orphan")
        try fixture.clone(
            "Node/1", with: CloneRequest(keys: keys),
            gives: #"""
                {"_id":"Node/3","id":"$a","b":"$new1","d":4,"down":["Node/4"]}
                {"_id":"Node/4","id":"$d","b":"$new2","c":"$new1","d":4,"up":"Node/3"}
                """#)
    }

    @Test func `the values of renamed keys are checked when a clone is requested`() throws {
        let fixture = try chain(#""a": {"type": "int32", "userInfo": {"omit": "", "renew": "soon"}}"#, #"{"_id":"Node/1","a":1}"#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/2","a":1,"id":"$new1"}"#)
        try fixture.expectRefusal(
            .invalidInput, of: "Node/1", with: CloneRequest(keys: CloneKeys(exclude: "omit")), mentioning: "Node.a", "omit")
        try fixture.expectRefusal(.invalidInput, of: "Node/1", with: CloneRequest(keys: CloneKeys(rebuild: "renew")), mentioning: "soon")
    }
}
