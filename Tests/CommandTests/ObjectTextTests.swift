import CambiumJSON
import Testing

@testable import CambiumCommand

/// Objects in the output for people.
@Suite struct ObjectTextTests {
    private func line(_ json: String, after start: String = "", before end: String = "", width: Int?) throws -> String {
        ObjectText.line(try JSONValue(parsing: json.utf8), after: start, before: end, width: width)
    }

    @Test func `a line is cut to the width of a terminal, and complete without one`() throws {
        let long = String(repeating: "x", count: 200)
        let object = #"{"_id":"Note/1","title":"\#(long)","note":null,"items":["Item/1","Item/2"]}"#
        #expect(try line(object, width: nil) == "Note/1  title: \(long)  items: Item/1 Item/2")
        #expect(try line(object, width: 100) == "Note/1  title: \(long.prefix(39))…  items: Item/1 Item/2")
        #expect(try line(object, after: "1  ", width: 20) == "1  Note/1  title: x…")
        #expect(try line(object, before: ", from 1 to 2", width: 30) == "Note/1  title: x…, from 1 to 2")
        #expect(try line(#"{"_id":"Note/1","title":"\u0001\u0001"}"#, width: 20).count <= 20)
    }

    @Test(arguments: [
        (#""null""#, #""null""#), ("null", "null"), (#""a b""#, "a b"), (#""\"null\"""#, #""\"null\"""#), ("[]", "none"), (#""""#, #""""#),
        (#"["Ann Ames","Bo",null,"null","","none","Note/1",7]"#, #""Ann Ames" Bo null "null" "" "none" Note/1 7"#),
    ])
    func `a text differs from null, and the elements of a list from each other`(json: String, text: String) throws {
        #expect(ObjectText.text(try JSONValue(parsing: json.utf8)) == text)
    }

    @Test func `a list states how many elements it omits`() throws {
        #expect(ObjectText.text(try JSONValue(parsing: #"["a","b","c"]"#.utf8), memberCountMax: 1) == "a and 2 more")
        #expect(ObjectText.text(try JSONValue(parsing: #"["a","b"]"#.utf8), memberCountMax: 2) == "a b")
    }

    @Test func `a pipe gets complete lines`() throws {
        let place = try Workplace.withStore()
        let items = (1...60).map { #"{"name":"item \#($0)"}"# }.joined(separator: ",")
        #expect(try place.run("import", "notes", "Note", "-", input: #"{"id":1,"items":[\#(items)]}"#).code == 0)
        #expect(try place.run("find", "notes", "Note").output.hasSuffix(" Item/59 Item/60\n"))
        #expect(try place.run("walk", "notes", "Note/1", "items").output.split(separator: "\n")[0].hasSuffix(" Item/59 Item/60"))
    }
}
