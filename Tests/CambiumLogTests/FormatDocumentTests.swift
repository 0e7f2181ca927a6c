import CambiumModel
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog

/// The constants of the code are those in the tables of Docs/Formats/FORMAT.md.
@Suite struct FormatDocumentTests {
    private static let path = "Docs/Formats/FORMAT.md"
    private static let text = PackageFolder.text(path)

    /// Returns the beginnings of lines that the document lacks.
    private func missing(_ beginnings: [String]) -> [String] { beginnings.filter { !Self.text.contains("\n" + $0) } }

    private func letters(_ magic: [UInt8]) -> String { String(decoding: magic, as: UTF8.self) }

    @Test func `the headers of files have the offsets of the document`() {
        typealias Segment = Format.Segment
        typealias Head = Format.Head
        let segment = [
            "\(Segment.versionOffset) | 2 | format version: \(Format.version) |",
            "\(Segment.kindOffset) | 1 | kind |", "\(Segment.storeOffset) | 16 | store id |",
            "\(Segment.firstTransactionOffset) | 8 | number of the first transaction", "\(Segment.creationTimeOffset) | 8 | creation time",
            "\(Segment.saltSeedOffset) | 16 | salt seed", "\(Segment.previousChecksumOffset) | 4 | checksum of the last frame",
            "\(Segment.reservedOffset) | \(Segment.checksumOffset - Segment.reservedOffset) | zero |",
            "\(Segment.checksumOffset) | 4 | CRC of bytes 0 to \(Segment.checksumOffset - 1) |",
            "0 | 8 | `\(letters(Segment.magic))` |",
        ]
        let head = [
            "0 | 8 | `\(letters(Head.magic))` |",
            "\(Head.sequenceOffset) | 8 | sequence", "\(Head.segmentOffset) | 8 | the first transaction of the segment",
            "\(Head.positionOffset) | 8 | the position", "\(Head.transactionOffset) | 8 | the last transaction",
            "\(Head.closedOffset) | 8 | 1 if", "\(Head.storeOffset) | \(Head.storeByteCount) | the first",
            "\(Head.treeOffset) | 8 | the last transaction of the tree",
        ]
        #expect(missing((segment + head).map { "| " + $0 }) == [])
        #expect(Self.text.contains("slots of \(Head.slotByteCount) bytes"))
        #expect(Self.text.contains("header of \(Segment.headerByteCount) bytes and frames"))
        #expect(Self.text.contains("number of transactions is 1 to 2^\(Format.Frame.transactionCountMax.trailingZeroBitCount);"))
        let entryCountMax = "2^\(Format.Index.entryCountMax.trailingZeroBitCount)"
        #expect(Self.text.contains("An index has at most \(entryCountMax) frames and \(entryCountMax) joints."))
        for magic in [Format.CreationMark.magic, Format.ArchiveNote.magic] {
            #expect(missing(["| 8 | `\(letters(magic))` |"]) == [])
        }
    }

    @Test func `the kinds of files and ops have the numbers of the document`() {
        let files: [(Format.FileKind, String)] = [
            (.open, "open segment"), (.sealed, "sealed segment"), (.ops, "ops of"), (.retired, "retired"),
        ]
        let ops: [(Format.OpKind, String)] = [
            (.schema, "schema |"), (.insert, "insert |"), (.set, "set |"), (.link, "link |"), (.linkAt, "link at |"), (.unlink, "unlink |"),
            (.move, "move |"), (.delete, "delete |"), (.upsert, "upsert |"), (.relink, "relink |"), (.digest, "digest |"),
            (.clone, "clone |"), (.label, "label |"),
        ]
        let lists: [(Format.ListEncoding, String)] = [
            (.raw, "raw |"), (.constant, "constant |"), (.offset, "offset |"), (.delta, "delta |"),
        ]
        let relinks: [(Format.RelinkKind, String)] = [(.toOne, "to-one:"), (.unordered, "unordered:"), (.ordered, "ordered:")]
        #expect(missing(files.map { "| \($0.rawValue) | \($1)" } + ops.map { "| \($0.rawValue) | \($1)" }) == [])
        #expect(missing(lists.map { "| \($0.rawValue) \($1)" } + relinks.map { "| \($0.rawValue) | \($1)" }) == [])
    }

    @Test func `values and transactions have the codes of the document`() {
        typealias Tag = Format.ValueTag
        let columns = [
            "| bool | \(Tag.false.rawValue), \(Tag.true.rawValue) | 1 |", "| int16, int32, int64 | \(Tag.int.rawValue) | 2, 4, 8 |",
            "| float, double | \(Tag.float.rawValue), \(Tag.double.rawValue) | 4, 8 |", "| decimal | \(Tag.decimal.rawValue) | 0 |",
            "| string, data | \(Tag.string.rawValue), \(Tag.data.rawValue) | 0 |", "| date | \(Tag.date.rawValue) | 8 |",
            "| UUID | \(Tag.uuid.rawValue) | 16 |", "| URI, JSON | \(Tag.uri.rawValue), \(Tag.json.rawValue) | 0 |",
        ]
        #expect(missing(columns) == [])
        typealias Flag = Format.Flag
        let flags =
            "| flags | u8 | \(Flag.actor) actor, \(Flag.message) message, \(Flag.requestID) request id, \(Flag.redacted) redacted, "
            + "\(Flag.salt) explicit salt, \(Flag.opsFile) ops in a separate file, \(Flag.clockLag) clock, \(Flag.more) more flags;"
        let more = "| more flags | u8 | with flag \(Flag.more): \(Format.MoreFlag.requestDigest) request digest;"
        #expect(missing([flags, more]) == [])
    }

    @Test func `the texts of a transaction have the limits of the document`() {
        typealias Limits = TransactionMetadata
        let texts = [
            "| actor | interned | with flag 1; at most 1,024 bytes |", "| message | interned | with flag 2; at most 64,000 bytes |",
            "| request id | text | with flag 4; at most 256 bytes |",
        ]
        #expect(missing(texts) == [])
        #expect(Limits.actorByteCountMax == 1024 && Limits.messageByteCountMax == 64_000 && Limits.requestIDByteCountMax == 256)
    }
}
