import Testing

struct ExtensionRuleTests {
    @Test func `a type is extended in at most two folders`() throws {
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        #expect(files.contains { $0.path == "Sources/CambiumGraph/Draft/Draft.swift" })
        expectNone(ExtensionRule().violations(in: files))
    }

    @Test(arguments: [
        (["A/", "B/"], "func f() {}", 0), (["A/", "B/", "C/"], "func f() {}", 1), (["A/", "A/", "B/"], "func f() {}", 0),
        (["A/", "B/", "C/"], "private func f() {}", 0), (["A/", "B/", "C/"], "@inline(__always) fileprivate var a: Int { 0 }", 0),
        (["A/", "B/", ""], "@inline(__always) var a: Int { 0 }", 1),
    ])
    func `a third folder that extends a type is found`(folders: [String], member: String, violationCount: Int) {
        let type = TextFile(path: "Sources/Target/A/Name.swift", text: "struct Name {}\n")
        func files(_ target: String) -> [TextFile] {
            folders.enumerated().map { index, folder in
                let text = "/// extension Name\nextension Name {\n    \(member)\n}\n\nfunc f() {}\n"
                return TextFile(path: "Sources/\(target)/\(folder)Name\(index).swift", text: text)
            }
        }
        #expect(ExtensionRule().violations(in: [type] + files("Target")).count == violationCount)
        #expect(ExtensionRule().violations(in: [type] + files("Other")).isEmpty, "the type belongs to another target")
    }

    @Test(arguments: [(6, 0), (5, 1), (7, 1)])
    func `a known number of folders must be exact`(folderCount: Int, violationCount: Int) {
        let files = (0..<folderCount).map { TextFile(path: "Sources/T/F\($0)/A.swift", text: "extension Store {\n    func f() {}\n}\n") }
        let type = TextFile(path: "Sources/T/F0/Store.swift", text: "public final class Store {}\n")
        #expect(ExtensionRule.known["Store"] == 6)
        #expect(ExtensionRule().violations(in: files + [type]).count == violationCount)
    }

    @Test func `the draft has at most 120 functions`() throws {
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        var (count, isDraft) = (0, false)
        for line in files.flatMap(\.lines) {
            if line.first.map({ $0 != " " && $0 != "}" }) ?? false { isDraft = line.contains(#/(struct|extension) Draft\b/#) }
            if isDraft, line.contains(#/^ {4}\S.*\bfunc /#), !line.contains("//") { count += 1 }
        }
        #expect(count > 50)
        #expect(count <= 120)
    }
}
