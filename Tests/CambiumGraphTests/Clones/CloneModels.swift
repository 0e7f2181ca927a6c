/// Schemas for tests of clones.
enum CloneModels {
    /// The model of MOCloner, which uses every rule that a property can have.
    static let notes = """
        { "entities": {
            "Note": {
              "attributes": {
                "createDate": {"type": "date", "optional": true, "userInfo": {"rebuild": "now"}},
                "data": {"type": "data", "optional": true},
                "derived": {"type": "int32", "optional": true},
                "id": {"type": "uuid", "optional": true, "userInfo": {"rebuild": "uuid"}},
                "index": {"type": "int32", "optional": true, "default": 0},
                "name": {"type": "string", "optional": true},
                "transient": {"type": "bool", "default": true, "transient": true} },
              "relationships": {
                "items": {"to": "Item", "many": true, "inverse": "note", "onDelete": "cascade"},
                "memos": {"to": "Memo", "many": true, "ordered": true, "inverse": "note"},
                "noteDescription": {"to": "NoteDescription", "inverse": "note"} } },
            "Item": {
              "attributes": {
                "index": {"type": "int32", "optional": true, "default": 0, "userInfo": {"exclude": ""}},
                "name": {"type": "string", "optional": true},
                "noteIDBlank": {"type": "uuid", "optional": true, "userInfo": {"followParent": "id", "withoutParent": "blank"}},
                "noteIDKeep": {"type": "uuid", "optional": true, "userInfo": {"followParent": "id", "withoutParent": "keep"}} },
              "relationships": {
                "note": {"to": "Note", "inverse": "items"},
                "toManyTags": {"to": "ToManyTag", "many": true, "inverse": "items"},
                "toOneTag": {"to": "ToOneTag", "inverse": "items"} } },
            "Memo": {
              "attributes": {"text": {"type": "string", "optional": true}},
              "relationships": {"note": {"to": "Note", "inverse": "memos"}} },
            "NoteDescription": {
              "attributes": {"content": {"type": "string", "optional": true}},
              "relationships": {"note": {"to": "Note", "inverse": "noteDescription"}} },
            "ToManyTag": {
              "attributes": {"name": {"type": "string", "optional": true}},
              "relationships": {"items": {"to": "Item", "many": true, "inverse": "toManyTags"}} },
            "ToOneTag": {
              "attributes": {"name": {"type": "string", "optional": true}},
              "relationships": {"items": {"to": "Item", "many": true, "inverse": "toOneTag"}} } } }
        """

    /// A note that uses every attribute and every relationship of a note.
    static let wholeNote = """
        {"_id":"Note/1","createDate":"2020-01-01T00:00:00Z","data":"AQID","derived":5,"id":"$a","index":7,"name":"n","transient":false,\
        "memos":["Memo/2","Memo/1"]}
        {"_id":"Item/1","index":1,"name":"i1","noteIDBlank":"$a","noteIDKeep":"$a","note":"Note/1"}
        {"_id":"Item/2","index":2,"name":"i2","noteIDBlank":"$b","noteIDKeep":"$b","note":"Note/1"}
        {"_id":"Memo/1","text":"m1"}
        {"_id":"Memo/2","text":"m2"}
        {"_id":"Memo/3","text":"m3"}
        {"_id":"NoteDescription/1","content":"d","note":"Note/1"}
        {"_id":"ToManyTag/1","name":"red","items":["Item/1","Item/2"]}
        {"_id":"ToManyTag/2","name":"blue","items":["Item/2"]}
        {"_id":"ToOneTag/1","name":"one","items":["Item/1","Item/2"]}
        {"_id":"Note/2","id":"$c","name":"another","memos":["Memo/3"]}
        """

    /// Nodes with every kind of relationship from an entity to itself: a tree, pairs, links that only one side knows, and links to many on
    /// both sides.
    static let nodes = schema(
        node: #"""
            "parent": {"to": "Node", "inverse": "children"},
            "children": {"to": "Node", "many": true, "inverse": "parent"},
            "next": {"to": "Node", "inverse": "previous"},
            "previous": {"to": "Node", "inverse": "next"},
            "left": {"to": "Node"},
            "right": {"to": "Node"},
            "parts": {"to": "Node", "many": true},
            "friends": {"to": "Node", "many": true, "inverse": "friends"},
            "follows": {"to": "Node", "many": true, "inverse": "followers"},
            "followers": {"to": "Node", "many": true, "inverse": "follows"}
            """#)

    /// Returns a schema with an entity `Node`, which has a name and the given relationships and attributes, and with the other entities.
    static func schema(node relationships: String, attributes: String = "", _ others: String = "", keys: String = "") -> String {
        """
        { "entities": { "Node": { \(keys)
              "attributes": { "name": {"type": "string", "optional": true}\(attributes.isEmpty ? "" : ", " + attributes) },
              "relationships": { \(relationships) } }
            \(others.isEmpty ? "" : ", " + others) } }
        """
    }

    /// Returns a schema whose `Node` has one relationship to `Leaf`. If `back` is not empty, it defines the inverse `node` of `Leaf`.
    static func pair(_ relationship: String, back: String = "") -> String {
        let back = back.isEmpty ? "" : #", "relationships": { "node": {"to": "Node", \#(back)} }"#
        return schema(
            node: #""leaves": {"to": "Leaf", \#(relationship)}"#,
            #""Leaf": { "attributes": {"name": {"type": "string", "optional": true}}\#(back) }"#)
    }
}
