import Foundation
import Testing

/// Objects that arguments name by identity, and the output that names objects by identity beside the id.
@Suite struct IdentityArgumentTests {
    private static let schema = """
        { "entities": {
            "Issue": { "identity": ["project", "number"],
              "attributes": { "project": {"type": "string"}, "number": {"type": "int64"},
                              "title": {"type": "string", "optional": true} },
              "relationships": { "tags": {"to": "Tag", "many": true, "ordered": true, "inverse": "issue", "onDelete": "nullify"} } },
            "Tag": { "identity": ["name"], "attributes": { "name": {"type": "string"} },
                     "relationships": { "issue": {"to": "Issue", "inverse": "tags"} } },
            "Remark": { "attributes": { "text": {"type": "string"} } } } }
        """

    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace()
            try place.write(Self.schema, to: "schema.json")
            #expect(try place.run("init", "s", "--schema", "schema.json").code == 0)
            #expect(try place.run("insert", "s", "Issue", "project=CORE", "number=17").code == 0)
            #expect(try place.run("insert", "s", "Tag", "name=a,b/c:d", "issue=Issue:CORE,17").code == 0)
            #expect(try place.run("insert", "s", "Tag", "name=plain").code == 0)
            return place
        }
    }

    private static let owned = """
        { "entities": {
            "Project": { "identity": ["key"], "attributes": { "key": {"type": "string"} },
              "relationships": { "issues": {"to": "Issue", "many": true, "inverse": "project"} } },
            "Issue": { "identity": ["project", "number"],
              "attributes": { "number": {"type": "int64"}, "title": {"type": "string", "optional": true} },
              "relationships": { "project": {"to": "Project", "inverse": "issues"},
                                 "comments": {"to": "Comment", "many": true, "inverse": "issue"} } },
            "Comment": { "identity": ["issue", "n"], "attributes": { "n": {"type": "int64"} },
              "relationships": { "issue": {"to": "Issue", "inverse": "comments"} } } } }
        """

    @Test func `an identity with an owner is written with the values of the owner's identity`() throws {
        let place = try Workplace()
        try place.write(Self.owned, to: "schema.json")
        try place.write(#"{"key":"CORE","issues":[{"number":17,"comments":[{"n":3}]}]}"#, to: "rows.json")
        for line in [
            "init s --schema schema.json", "import s Project rows.json", "import s Project rows.json", "set s Issue:CORE,17 title=x",
        ] {
            #expect(try run(place, line.split(separator: " ").map(String.init)).code == 0, "\(line)")
        }
        #expect(try place.run("show", "s", "Comment:CORE,17,3").output == place.run("show", "s", "Comment/1").output)
        #expect(try place.run("find", "s", "Issue", "--identity", "CORE", "--identity", "17", "--count").output.contains("1"))
        #expect(try place.run("query", "s", input: "show Issue CORE 17\n").output.contains("Issue/1"))
        for command in [["diff", "s", "2", "3"], ["log", "s", "--ops"], ["history", "s", "Issue:CORE,17"]] {
            #expect(try run(place, command).output.contains("CORE-17"), "\(command)")
        }
        let wrong = try place.run("show", "s", "Comment:CORE,17")
        #expect(wrong.code == 65 && wrong.errors.contains("issue.project.key,issue.number,n"), "\(wrong.errors)")
        #expect(try place.run("delete", "s", "Comment:CORE,17,3").code == 0)
        #expect(try place.run("history", "s", "Comment:CORE,17,3").output.contains("Comment/1"))
        // The identity of the issue ends with a change of its project.
        #expect(try place.run("set", "s", "Project:CORE", "key=HEART").code == 0)
        #expect(try place.run("history", "s", "Issue:CORE,17").output == place.run("history", "s", "Issue/1").output)
        #expect(try place.run("history", "s", "Issue:HEART,17").output == place.run("history", "s", "Issue/1").output)
        #expect(try place.run("history", "s", "Issue:CORE,18").code == 66)
    }

    private func run(_ place: Workplace, _ arguments: [String]) throws -> Workplace.Outcome {
        try place.run(executable: Workplace.binary, arguments)
    }

    @Test(arguments: [
        ["show", "s", "Issue:CORE,17"], ["show", "s", "Issue:\"CORE\",17"], ["show", "s", "Tag:a,b/c:d"], ["show", "s", "Tag:\"a,b/c:d\""],
        ["set", "s", "Issue:CORE,17", "title=x"], ["link", "s", "Issue:CORE,17", "tags", "Tag:plain"],
        ["unlink", "s", "Issue:CORE,17", "tags", "Tag:a,b/c:d"], ["move", "s", "Issue:CORE,17", "tags", "Tag:a,b/c:d", "--to", "0"],
        ["delete", "s", "Tag:plain", "Issue:CORE,17"], ["clone", "s", "Issue:CORE,17", "--exclude", "tags", "--set", "number=3"],
        ["walk", "s", "Issue:CORE,17", "tags", "--to", "Tag:a,b/c:d"], ["log", "s", "--object", "Issue:CORE,17"],
        ["find", "s", "Tag", "--after", "Tag:a,b/c:d"], ["insert", "s", "Issue", "project=B", "number=1", "tags=Tag:plain,Tag/1"],
        ["insert", "s", "Tag", "name=new", "issue:=\"Issue:CORE,17\""],
    ])
    func `each command that takes an object finds it by its identity`(arguments: [String]) throws {
        let outcome = try run(try place(), arguments)
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    }

    @Test func `an identity and an id of one object have the same result`() throws {
        let place = try place()
        #expect(try place.run("show", "s", "Issue:CORE,17").output == place.run("show", "s", "Issue/1").output)
        #expect(try place.run("log", "s", "--object", "Tag:plain").output == place.run("log", "s", "--object", "Tag/2").output)
        let prompt = try place.run("query", "s", input: "show Issue:CORE,17\nshow Issue CORE 17\nshow Issue/1\n").output
        let shown = prompt.components(separatedBy: "_id").dropFirst()
        #expect(shown.count == 3 && Set(shown.map { $0.split(separator: "\n").prefix(4) }).count == 1, "\(prompt)")
    }

    @Test(arguments: [
        ("Issue:CORE", 65, "has 2 values, but the text has 1"), ("Issue:CORE,17,1", 65, "has 2 values, but the text has 3"),
        ("Issue:CORE,x", 65, "'number'"), ("Issue:", 65, "alone does not name"), ("Remark:1", 65, "has no identity"),
        ("Nothing:1", 64, "no entity 'Nothing'"), ("Issue:CORE,18", 66, "There is no 'Issue' with the identity CORE,18"),
    ])
    func `an identity that names no object is an error that states why`(text: String, code: Int32, part: String) throws {
        let place = try place()
        for arguments in [["show", "s", text], ["delete", "s", text], ["log", "s", "--object", text]] {
            let outcome = try run(place, arguments)
            #expect(outcome.code == code && outcome.errors.contains(part), "\(arguments): \(outcome.code) \(outcome.errors)")
        }
    }

    @Test func `the log, the differences and errors name an object by its identity beside the id`() throws {
        let place = try place()
        #expect(try place.run("set", "s", "Issue/1", "title=x").code == 0)
        #expect(try place.run("delete", "s", "Issue/1").code == 0)
        let log = try place.run("log", "s", "--ops").output
        #expect(log.contains("set Issue/1 (CORE-17) ") && log.contains("Issue/1 (CORE-17)\"]"), "\(log)")
        #expect(try !place.run("log", "s", "--ops", "--json").output.contains("(CORE-17)"))
        #expect(try place.run("diff", "s", "4", "5").output.hasPrefix("~ Issue/1 (CORE-17)\n"))
        let last = try place.run("diff", "s", "5").output
        #expect(last.contains("- Issue/1 (CORE-17)\n") && last.contains("~ Tag/1 (a,b/c:d)\n    issue: -Issue/1 (CORE-17)"), "\(last)")
        let refused = try place.run("set", "s", "Tag/2", "name=a,b/c:d")
        #expect(refused.code == 1 && refused.errors.contains("Tag/2 (a,b/c:d): 'name' must be unique"), "\(refused.errors)")
    }
}
