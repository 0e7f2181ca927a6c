import Cambium
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumExchange

/// Malformed or malicious input results in an error with a place, or in the documented outcome, but never in a crash.
@Suite struct HostileImportTests {
    private func refusal(_ bytes: [UInt8], _ format: ImportSource.Format = .json) throws -> (ImportReport.RowError?, CambiumError?) {
        let store = try Store.notes()
        var reached: ImportReport?
        do {
            _ = try store.importRows(try store.schema.required("Note"), from: [.bytes(bytes, name: "bad", format: format)]) { reached = $0 }
            return (nil, nil)
        } catch let error as CambiumError {
            #expect(store.graph.objectCount == 0 && store.graph.transaction.rawValue == 1)
            return (reached?.errors.last, error)
        }
    }

    @Test func `a batch keeps a limited number of failures`() {
        var batch = RowBatch()
        let failure = RowFailure(code: .typeMismatch, pointer: "/items/0", message: "wrong")
        let places = (0..<10_000).map { _ in batch.track(failure) }
        #expect(batch.failures.count == RowBatch.failureCountMax + 1 && batch.failures.last?.code == .tooLarge)
        #expect(places.prefix(RowBatch.failureCountMax).elementsEqual(0..<Int32(RowBatch.failureCountMax)))
        #expect(places.last == Int32(RowBatch.failureCountMax))
    }

    @Test func `a row with many faults is reported with the first one, and the next row with its own`() throws {
        let store = try Store.notes()
        let text = "{\"id\":1,\"items\":[" + Self.repeated("[],", 5000) + "[]]}\n{\"id\":2,\"items\":[[]]}\n{\"id\":3}"
        let report = try store.importing("Note", text) { $0.onError = .skip }
        #expect(report.errors.map(\.pointer) == ["/items/0", "/items/0"] && report.errors.map(\.row) == [1, 2])
        #expect(report.errors.allSatisfy { $0.code == .typeMismatch })
        #expect(store.graph.objectCount == 1)
    }

    private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    /// A text, and the message or the pointer that its error must have.
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let wanted: String

        init(_ text: String, _ wanted: String) { (self.text, self.wanted) = (text, wanted) }

        var testDescription: String { "\(text.utf8.count) bytes: \(text.prefix(40))" }
    }

    static let malformed: [Case] = [
        Case("{\"x\":" + repeated("[", 800) + repeated("]", 800) + "}", "nest more than 700 levels deep"),
        Case("{\"x\":" + repeated("{\"a\":", 800) + "1" + repeated("}", 800) + "}", "nest more than 700 levels deep"),
        Case(repeated("[", 3_000_000), "nest more than 700 levels deep"),
        Case(repeated("{\"a\":", 1_000_000), "nest more than 700 levels deep"),
        Case("{\"id\":1,\"title\":\"\\ud800\"}", "a lone surrogate"),
        Case("{\"id\":1,\"title\":\"\\udc00\\ud800\"}", "a lone surrogate"),
        Case("{\"id\":1,\"title\":\"\\u12\"}", "an escape that JSON does not define"),
        Case("{\"id\":1,\"id\":1}", "the object has the key \"id\" twice"),
        Case("{\"id\":1,\"x\":{\"a\":1,\"b\":2,\"a\":3}}", "the object has the key \"a\" twice"),
        Case("{\"id\":1,\"\\u0069d\":1}", "the object has the key \"id\" twice"),
        Case("{\"id\":1,\"title\":\"\u{0}\"}", "a control character"),
        Case("{\"id\":01}", "a number is malformed"), Case("{\"id\":+1}", "expected a value"), Case("{\"id\":NaN}", "expected a value"),
        Case("{\"id\":0x1}", "a number is malformed"),
        Case("{\"id\":1.}", "a number is malformed"),
        Case("{\"id\":1}}", "more text follows"), Case("{\"id\":1", "does not end"), Case("{'id':1}", "a key in double quotation marks"),
        Case("{\"id\":1,}", "a key in double quotation marks"),
        Case("{\"id\":1}\u{FEFF}", "more text follows"), Case("{\"id\":tru}", "a word is not"),
        Case("{\"id\":1 /* one */}", "expected"),
    ]

    @Test(arguments: malformed)
    func `text that is not JSON is reported with its line`(_ one: Case) throws {
        let (row, error) = try refusal(Array(("{\"id\":5}\n" + one.text).utf8))
        if let row {
            #expect(row.code == .malformed && row.row == 2 && row.line == 2 && row.message.contains(one.wanted), "\(row)")
        }
        let place = try #require(error?.place)
        #expect(error?.code == .invalidInput && place.file == "bad" && place.line == 2)
    }

    @Test func `malformed text in an array is reported with its column in the file`() throws {
        let (row, _) = try refusal(Array("[{\"id\":5},{\"id\":x}]".utf8))
        #expect(row?.line == 1 && row?.message.hasSuffix("at column 17") == true, "\(row?.message ?? "no error")")
        let (later, _) = try refusal(Array("[{\"id\":5},{\n\"id\":x}]".utf8))
        #expect(later?.line == 2 && later?.message.hasSuffix("at column 6") == true, "\(later?.message ?? "no error")")
        let (_, error) = try refusal(Array("[{\"id\":5} {\"id\":6}]".utf8))
        #expect(error?.place?.line == 1 && error?.place?.column == 11)
    }

    @Test(arguments: [[0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xE2, 0x82]] as [[UInt8]])
    func `bytes that are not UTF-8 are reported with their line and column`(bytes: [UInt8]) throws {
        let (row, _) = try refusal(Array("{\"id\":5}\n{\"id\":1,\"title\":\"".utf8) + bytes + Array("\"}".utf8))
        #expect(row?.code == .malformed && row?.line == 2 && row?.message.hasSuffix("bytes that are not UTF-8, at column 18") == true)
        let (record, _) = try refusal(Array("id,title\n5,x\n1,".utf8) + bytes, .csv)
        #expect(record?.code == .malformed && record?.line == 3 && record?.message.hasSuffix("at column 3") == true)
    }

    @Test(arguments: ImportSource.Format.allCases)
    func `compressed input and input in UTF-16 are refused with the cause`(format: ImportSource.Format) throws {
        let text = format == .csv ? "id\n1\n" : "{\"id\":1}"
        let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        #expect(try refusal([0xFF, 0xFE] + wide, format).1?.message.contains("UTF-16") == true)
        #expect(try refusal([0xFE, 0xFF, 0] + wide, format).1?.message.contains("UTF-16") == true)
        let (row, error) = try refusal([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3], format)
        #expect(row == nil && error?.code == .invalidInput && error?.message.contains("'.gz'") == true)
        #expect(error?.place?.file == "bad")
    }

    static let tooLarge: [Case] = [
        Case("\"id\":1e400", "/id"), Case("\"id\":9223372036854775808", "/id"), Case("\"id\":1e-1", "/id"),
        Case("\"id\":1,\"rating\":1e400", "/rating"),
        Case("\"id\":1e999999999999999999999", "/id"), Case("\"id\":1,\"rating\":-" + repeated("9", 400), "/rating"),
        Case("\"id\":" + repeated("1", 1_000_000), "/id"), Case("\"id\":1,\"created\":\"" + repeated("2", 1_000_000) + "\"", "/created"),
        Case("\"id\":1,\"created\":\"10000-01-01T00:00:00Z\"", "/created"),
    ]

    @Test(arguments: tooLarge)
    func `numbers and dates that do not fit their type are reported with their pointer`(_ one: Case) throws {
        let (row, error) = try refusal(Array("{\(one.text)}".utf8))
        #expect(row?.code == .typeMismatch && row?.pointer == one.wanted && error?.place?.pointer == one.wanted)
    }

    @Test func `a number of any length is read if its value fits`() throws {
        let store = try Store.notes()
        let rows = "{\"id\":1e18,\"rating\":0.\(Self.repeated("0", 100_000))1}\n{\"id\":1.0,\"rating\":1\(Self.repeated("0", 300))}"
        try store.importing("Note", rows)
        #expect(try store.graph.json("Note/1").contains("\"id\":1000000000000000000,\"title\":\"\",\"rating\":0,"))
        #expect(try store.graph.json("Note/2").contains("\"id\":1,\"title\":\"\",\"rating\":1e+300,"))
    }

    @Test func `objects nest down to the limit and no deeper`() throws {
        func nested(_ depth: Int) -> String {
            (1...depth).map { "{\"id\":\($0),\"related\":[" }.joined() + Self.repeated("]}", depth)
        }
        let store = try Store.notes()
        try store.importing("Note", nested(RowPlanner.depthMax + 1))
        #expect(store.graph.objectCount == RowPlanner.depthMax + 1)
        let (row, _) = try refusal(Array(nested(RowPlanner.depthMax + 2).utf8))
        #expect(row?.code == .tooDeep && row?.pointer == Self.repeated("/related/0", RowPlanner.depthMax + 1))
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a text of 50 MB is a value, and a record of more than 64 MiB is refused`() throws {
        let store = try Store.notes()
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 50_000_000)
        let json = Array("{\"id\":1,\"title\":\"".utf8) + text + Array("\"}".utf8)
        // The import also converts CSV to JSON.
        let csv = Array("id,title\n2,\"".utf8) + text.prefix(1_000_000) + [0x22]
        let note = try store.schema.required("Note")
        #expect(try store.importRows(note, from: [.bytes(json), .bytes(csv, format: .csv)]).counts.inserted == 2)
        let title = try note.requiredAttribute("title")
        let lengths = store.graph.objects(of: note).map { id in
            if case .string(let text)? = store.graph.value(of: title, of: id) { text.utf8.count } else { 0 }
        }
        #expect(lengths == [50_000_000, 1_000_000])
        let (_, record) = try refusal(Array("id\n1,\"".utf8) + text + text, .csv)
        #expect(record?.code == .limitExceeded && record?.place?.file == "bad" && record?.place?.line == 2)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `an object may have a million keys or twenty thousand members`() throws {
        let store = try Store.notes()
        let keys = (0..<1_000_000).map { ",\"k\($0)\":0" }.joined()
        let report = try store.importing("Note", "{\"id\":1\(keys)}")
        #expect(report.counts.inserted == 1 && report.unknownKeys.count + report.unknownKeysLeftOut == 1_000_000)
        let (row, _) = try refusal(Array("{\"id\":1\(keys),\"k5\":1}".utf8))
        #expect(row?.message.contains("the key \"k5\" twice") == true)
        let members = (2...20_000).map(String.init).joined(separator: ",")
        try store.importing("Note", "{\"id\":1,\"related\":[\(members),2]}")
        #expect(store.graph.objectCount == 20_000 && store.graph.linkCount == 19_999)
    }

    @Test func `the report of an import does not grow with the number of bad rows`() throws {
        let store = try Store.notes()
        let report = try store.importing("Note", Self.repeated("{}\n", ImportReport.errorCountMax + 25)) { $0.onError = .skip }
        #expect(report.errors.count == ImportReport.errorCountMax && report.errorsLeftOut == 25)
        #expect(report.errors.last?.row == ImportReport.errorCountMax && report.rowCount == ImportReport.errorCountMax + 25)
    }

    @Test func `long keys are cut in a report`() throws {
        let store = try Store.notes()
        let row = "{\"id\":1,\"\(Self.repeated("é", 100_000))\":1}"
        #expect(try store.importing("Note", row).unknownKeys == [Self.repeated("é", ImportReport.unknownKeyLengthMax): 1])
        let report = try store.importing("Note", row) { ($0.onError, $0.unknown) = (.skip, .error) }
        let error = try #require(report.errors.first)
        #expect(error.pointer.unicodeScalars.count == ImportReport.pointerLengthMax && error.message.utf8.count < 200)
    }

    @Test func `rows with too many columns or fields are refused`() throws {
        let columns = (0..<CSVRecordScan.fieldCountMax).map { "c\($0)" }.joined(separator: ",")
        #expect(try refusal(Array("id,\(columns)\n".utf8), .csv).1?.place?.line == 1)
        let commas = [UInt8](repeating: UInt8(ascii: ","), count: 300_000)
        let (row, _) = try refusal(Array("id\n".utf8) + commas, .csv)
        #expect(row?.code == .malformed && row?.line == 2 && row?.message.contains("more than 65536 fields") == true)
        let (wide, _) = try refusal(Array("id,\(columns.dropLast(7))\n1\n".utf8), .csv)
        #expect(wide?.code == .malformed && wide?.line == 2)
    }

    @Test func `a bad row among good ones is skipped, however malformed it is`() throws {
        let store = try Store.notes()
        let bad = ["{\"id\":", "\u{0}", "]", "{\"a\":\"\\ud800\"}", Self.repeated("[", 1000), "\"", "1e999", "null", "{\"id\":{}}"]
        let rows = bad.enumerated().flatMap { ["{\"id\":\($0.offset)}", $0.element] }.joined(separator: "\n")
        let report = try store.importing("Note", rows) { $0.onError = .skip }
        #expect(report.counts.inserted == bad.count && report.errors.map(\.line) == bad.indices.map { 2 * $0 + 2 })
    }
}
