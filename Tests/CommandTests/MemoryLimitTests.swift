import CambiumTesting
import Foundation
import Testing

@testable import CambiumCommand

/// Commands under limits of addresses (`ulimit -v`) and of private data (`ulimit -d`).
@Suite struct MemoryLimitTests {
    /// The limits in MB, from one that permits little more than the program itself to one that is large enough for every command.
    private static let limits = [
        "-v": LongTests.areWanted ? [150, 180, 190, 200, 220, 250, 300, 350, 400, 500, 700, 1000, 2000] : [180, 300, 2000],
        "-d": LongTests.areWanted ? [30, 50, 60, 70, 80, 100, 120, 150, 200, 300, 500, 1000, 2000] : [60, 100, 2000],
    ]
    private static let rowCount = 12_000

    private static let schema = """
        { "entities": { "Item": { "identity": ["id"], "attributes": { "id": {"type": "int64"}, "text": {"type": "string"} } } } }
        """

    /// Returns a workplace with rows, a store without rows (`empty`) and a store with a checkpoint of all rows (`full`).
    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace()
            try place.write(Self.schema, to: "schema.json")
            // Texts that differ take as much memory as the file.
            let rows = (0..<Self.rowCount).map { #"{"id":\#($0),"text":"\#(String(repeating: "\($0) ", count: 400))"}"# }
            try place.write(rows.joined(separator: "\n"), to: "rows.json")
            for store in ["empty", "full"] { #expect(try place.run("init", store, "--schema", "schema.json").code == 0) }
            let outcome = try place.run("import", "full", "Item", "rows.json")
            #expect(outcome.code == 0, "\(outcome.errors)")
            return place
        }
    }

    private func run(_ place: Workplace, _ option: String, _ limit: Int, _ command: String) throws -> Workplace.Outcome {
        // A crash report would take a second, and no report is expected.
        let script = "ulimit \(option) \(limit * 1000); export SWIFT_BACKTRACE=enable=no; exec \(Workplace.binary.path) \(command)"
        return try place.run(executable: URL(filePath: "/bin/sh"), ["-c", script])
    }

    @Test(arguments: ["-v", "-d"], ["import empty Item rows.json", "export full", "verify full", "clone full Item/1 --set id=-1"])
    func `a command that gets too little memory ends with an error and a remedy, and changes nothing`(
        option: String, command: String
    ) throws {
        var codes: [Int32] = []
        for limit in Self.limits[option] ?? [] {
            let place = try place()
            let outcome = try run(place, option, limit, command)
            codes.append(outcome.code)
            if outcome.code != 0 {
                #expect(outcome.code == 74, "\(limit) MB: \(outcome.errors)")
                #expect(outcome.errors.contains("Raise the") && outcome.errors.contains("ulimit"), "\(outcome.errors)")
            }
            if !command.hasPrefix("import") { continue }
            #expect(try place.run("verify", "empty").code == 0)
            #expect(try place.run("find", "empty", "Item", "--count").output == (outcome.code == 0 ? "12,000\n" : "0\n"))
        }
        #expect(codes.last == 0)
        #expect(codes.drop { $0 != 0 }.allSatisfy { $0 == 0 }, "\(codes)")
        if command.hasPrefix("import") { #expect(codes.first == 74) }
    }

    @Test(arguments: [("-v", 300), ("-d", 120)])
    func `a budget of pages leaves most of a small limit to the rest of the process`(option: String, limit: Int) throws {
        let place = try place()
        let outcome = try run(place, option, limit, "export full Item")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.utf8.count { $0 == UInt8(ascii: "\n") } == Self.rowCount)
    }

    @Test(arguments: [("1048576", 1 << 20), ("512K", 512 << 10), ("3M", 3 << 20), ("2G", 2 << 30), ("0", 0)])
    func `a number of bytes may end with a unit`(text: String, byteCount: Int) {
        #expect(MemorySetting.byteCount(text) == byteCount)
    }

    @Test(arguments: ["", "M", "-1", "1T", "9999999999G", "1.5M"])
    func `text that is not a number of bytes is refused`(text: String) {
        #expect(MemorySetting.byteCount(text) == nil)
    }
}
