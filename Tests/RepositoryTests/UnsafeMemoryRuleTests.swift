import Testing

struct UnsafeMemoryRuleTests {
    @Test func `unsafe memory stays in the layers that wrap it`() throws {
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        #expect(!files.isEmpty)
        expectNone(files.flatMap(UnsafeMemoryRule().violations))
    }

    @Test func `every place that may use unsafe memory uses it, and is no whole target with folders`() throws {
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        for place in UnsafeMemoryRule.places {
            let own = files.filter { $0.path.hasPrefix(place) }
            #expect(own.contains { !$0.violations(ofWords: UnsafeMemoryRule.words).isEmpty }, "\(place)")
            let isTarget = place.split(separator: "/").count == 2
            #expect(!isTarget || own.allSatisfy { $0.path.split(separator: "/").count == 3 }, "\(place)")
        }
    }

    @Test(
        arguments: UnsafeMemoryRule.words,
        ["Sources/CambiumStore/Store/Store.swift", "Sources/CambiumGraph/Live/A.swift", "Sources/CambiumLog/Log/A.swift"])
    func `a pointer in any other place is found`(word: String, path: String) {
        #expect(UnsafeMemoryRule().violations(in: TextFile(path: path, text: "\nlet p: \(word)<Int>\n")).map(\.line) == [2])
    }

    @Test func `a pointer in a wrapper and a buffer pointer anywhere are accepted`() {
        let pointer = TextFile(path: "Sources/CambiumGraph/Rows/A.swift", text: "let p: UnsafePointer<Int>\n")
        let buffer = TextFile(
            path: "Sources/CambiumStore/A.swift", text: "let p: UnsafeRawBufferPointer\nlet q: UnsafeBufferPointer<Int>\n")
        #expect(UnsafeMemoryRule().violations(in: pointer).isEmpty)
        #expect(UnsafeMemoryRule().violations(in: buffer).isEmpty)
    }
}
