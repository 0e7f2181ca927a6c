import CambiumModel
import Testing

@testable import CambiumCoreData

struct ModelFileTests {
    private let one = ModelFixture.text("<entity name='One'/>")
    private let two = ModelFixture.text("<entity name='Two'/>")

    private func entity(_ path: String) throws -> String? { try SchemaDefinition(coreDataModel: path).entities.first?.name }

    @Test func `the current version of a model is read`() throws {
        let files = [
            "M.xcdatamodeld/M.xcdatamodel/contents": one, "M.xcdatamodeld/M 2.xcdatamodel/contents": two,
            "M.xcdatamodeld/.xccurrentversion": ModelFixture.currentVersion("M 2.xcdatamodel"),
        ]
        try ModelFixture.withFolder(files) { folder throws in
            #expect(try entity(folder + "/M.xcdatamodeld") == "Two")
            #expect(try entity(folder + "/M.xcdatamodeld/") == "Two")
            #expect(try entity(folder + "/M.xcdatamodeld/M.xcdatamodel") == "One")
            #expect(try entity(folder + "/M.xcdatamodeld/M.xcdatamodel/contents") == "One")
        }
    }

    @Test func `an accent in the name of the current version may be encoded in two ways`() throws {
        let files = [
            "M.xcdatamodeld/A.xcdatamodel/contents": one, "M.xcdatamodeld/Mode\u{300}le.xcdatamodel/contents": two,
            "M.xcdatamodeld/.xccurrentversion": ModelFixture.currentVersion("Mod\u{E8}le.xcdatamodel"),
        ]
        try ModelFixture.withFolder(files) { folder throws in #expect(try entity(folder + "/M.xcdatamodeld") == "Two") }
    }

    @Test func `the only version of a model needs no property list`() throws {
        try ModelFixture.withFolder(["M.xcdatamodeld/M.xcdatamodel/contents": one]) { folder throws in
            #expect(try entity(folder + "/M.xcdatamodeld") == "One")
        }
    }

    @Test func `several versions without a current version are listed in the error`() throws {
        let files = ["M.xcdatamodeld/A.xcdatamodel/contents": one, "M.xcdatamodeld/B.xcdatamodel/contents": two]
        try ModelFixture.withFolder(files) { folder throws in
            let error = ModelFixture.error(path: folder + "/M.xcdatamodeld")
            #expect(error?.code == .invalidInput)
            #expect(error?.message.contains("'A.xcdatamodel', 'B.xcdatamodel'") == true)
        }
    }

    @Test(arguments: ["Gone.xcdatamodel", "../Other.xcdatamodel", "..", ""])
    func `a current version that is not in the folder is refused`(name: String) throws {
        let files = [
            "M.xcdatamodeld/A.xcdatamodel/contents": one, "M.xcdatamodeld/.xccurrentversion": ModelFixture.currentVersion(name),
            "Other.xcdatamodel/contents": two,
        ]
        try ModelFixture.withFolder(files) { folder throws in
            #expect(ModelFixture.error(path: folder + "/M.xcdatamodeld")?.code == .invalidInput)
        }
    }

    @Test func `a path that does not exist is not found`() throws {
        try ModelFixture.withFolder([:]) { folder throws in
            #expect(ModelFixture.error(path: folder + "/M.xcdatamodeld")?.code == .notFound)
            #expect(ModelFixture.error(path: "")?.code == .notFound)
        }
    }

    @Test func `a folder without a model is refused`() throws {
        try ModelFixture.withFolder(["note.txt": "", "M.xcdatamodeld/A.xcdatamodel/layout": ""]) { folder throws in
            #expect(ModelFixture.error(path: folder)?.code == .invalidInput)
            #expect(ModelFixture.error(path: folder + "/M.xcdatamodeld")?.code == .invalidInput)
        }
    }

    @Test func `a device and a path with a zero byte are refused`() {
        #expect(ModelFixture.error(path: "/dev/null")?.code == .invalidInput)
        #expect(ModelFixture.error(path: "a\0b")?.code == .invalidInput)
    }

    @Test func `a file beyond 16 MiB is refused`() throws {
        let text = one + String(repeating: " ", count: ModelFile.byteCountMax)
        try ModelFixture.withFolder(["contents": text]) { folder throws in
            #expect(ModelFixture.error(path: folder + "/contents")?.code == .limitExceeded)
        }
    }
}
