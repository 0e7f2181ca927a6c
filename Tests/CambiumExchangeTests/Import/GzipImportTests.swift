import Cambium
import CambiumLog
import FoundationEssentials
import TestFixtures
import Testing

@Suite struct GzipImportTests {
    /// `{"id":1}` and `{"id":2}`, each with a line end, as Python's gzip module compresses them without a time.
    private static let first = bytes("H4sIAAAAAAAC/6tWykxRsjKs5QIAVG2d2QkAAAA=")
    private static let second = bytes("H4sIAAAAAAAC/6tWykxRsjKq5QIADdPb2wkAAAA=")

    private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }

    private func imported(_ bytes: [UInt8], piece: Int = .max) throws -> ImportReport {
        let source = ImportSource(name: "rows.json.gz", isRepeatable: true) {
            var offset = 0
            return { buffer in
                let count = min(piece, buffer.count, bytes.count - offset)
                buffer.copyBytes(from: bytes[offset..<offset + count])
                offset += count
                return count
            }
        }
        let store = try Store.notes()
        return try store.importRows(try store.schema.required("Note"), from: [source.asNamed()])
    }

    @Test(arguments: [1, 2, 7, 1000])
    func `consecutive members of a file are one input`(piece: Int) throws {
        #expect(try imported(Self.first, piece: piece).counts.inserted == 1)
        #expect(try imported(Self.first + Self.second, piece: piece).counts.inserted == 2)
        #expect(try imported(Self.second + Self.first + Self.second, piece: piece).counts.repeated == 1)
    }

    @Test(arguments: [1, 2, 7, 1000])
    func `zeros after the last member are ignored, and other bytes are corruption`(piece: Int) throws {
        let padding = [UInt8](repeating: 0, count: 600)
        #expect(try imported(Self.first + Self.second + padding, piece: piece).counts.inserted == 2)
        #expect(code { _ = try imported(Self.first + padding + [1], piece: piece) } == .invalidInput)
        #expect(code { _ = try imported(Self.first + padding + Self.second, piece: piece) } == .invalidInput)
        #expect(code { _ = try imported(padding, piece: piece) } == .invalidInput)
    }

    @Test func `a truncated file is reported with its name`() throws {
        let whole = Self.first + Self.second
        for count in 0..<whole.count where count != Self.first.count {
            do {
                _ = try imported(Array(whole[..<count]))
                Issue.record("the import of \(count) of \(whole.count) bytes succeeded")
            } catch let error as CambiumError {
                #expect(error.code == .invalidInput && error.place?.file == "rows.json.gz")
            }
        }
    }

    @Test func `a flipped bit is reported unless it has no meaning`() throws {
        for offset in Self.first.indices {
            var corrupted = Self.first
            corrupted[offset] ^= 0x10
            let outcome = Result { try imported(corrupted) }
            if case .success(let report) = outcome {
                // These bytes are the time and kind of the file, and the padding of the last byte.
                #expect([4, 5, 6, 7, 8, 9, 20].contains(offset) && report.counts.inserted == 1)
            } else {
                #expect(code { _ = try outcome.get() } == .invalidInput, "byte \(offset)")
            }
        }
        #expect(code { _ = try imported(Self.first + [1]) } == .invalidInput)
        #expect(code { _ = try imported(Array("{\"id\":1}".utf8)) } == .invalidInput)
    }

    @Test(arguments: [
        ("a.json", ImportSource.Format.json), ("a.csv", .csv), ("A.CSV", .csv), ("a.csv.gz", .csv), ("a.jsonl.gz", .json), ("csv", .json),
    ])
    func `the name of a file determines its format`(name: String, format: ImportSource.Format) {
        #expect(ImportSource.file(name).format == format)
    }
}
