import Testing

struct UnsafeMemoryRuleTests {
    @Test func `unsafe memory stays in the layers that wrap it`() throws {
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        #expect(!files.isEmpty)
        expectNone(files.flatMap(UnsafeMemoryRule().violations))
    }

    @Test func `every place that may use unsafe memory exists`() {
        for place in UnsafeMemoryRule.places {
            #expect(Repository.current.exists(place), "\(place)")
        }
    }

    @Test(arguments: UnsafeMemoryRule.words, ["Sources/Cambium/Store.swift", "Sources/CambiumModel/Value.swift"])
    func `a pointer in any other place is found`(word: String, path: String) {
        #expect(UnsafeMemoryRule().violations(in: TextFile(path: path, text: "\nlet p: \(word)<Int>\n")).map(\.line) == [2])
    }

    @Test func `a pointer in a wrapper and a buffer pointer anywhere are accepted`() {
        let pointer = TextFile(path: "Sources/CambiumModel/Regex/A.swift", text: "let p: UnsafePointer<Int>\n")
        let buffer = TextFile(path: "Sources/Cambium/A.swift", text: "let p: UnsafeRawBufferPointer\nlet q: UnsafeBufferPointer<Int>\n")
        #expect(UnsafeMemoryRule().violations(in: pointer).isEmpty)
        #expect(UnsafeMemoryRule().violations(in: buffer).isEmpty)
    }
}
