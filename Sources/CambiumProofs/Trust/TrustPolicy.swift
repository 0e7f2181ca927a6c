public import CambiumModel

/// The logs that a reader accepts, and the witnesses that must have cosigned their checkpoints (C2SP tlog-policy).
///
/// ```swift
/// let policy = try TrustPolicy(
///     parsing: Array("log example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\nquorum none\n".utf8))
/// ```
public struct TrustPolicy: Sendable {
    /// A witness, or a group of witnesses and groups that were defined before it.
    private enum Member: Sendable {
        case witness(NoteKey)
        case group(threshold: Int, members: [Int])
    }

    /// The keys of the logs.
    public private(set) var logs: [NoteKey] = []
    private var members: [Member] = []
    /// The index of the member that must have cosigned; `nil` if no cosignature is needed.
    private var quorum: Int?

    /// The largest number of bytes of a policy.
    public static let byteCountMax = 1 << 20
    /// The largest number of witnesses and groups of a policy.
    public static let memberCountMax = 1024

    /// The keys of the witnesses.
    public var witnesses: [NoteKey] {
        members.compactMap { if case .witness(let key) = $0 { key } else { nil } }
    }

    /// Reads a policy. Throws `.invalidInput`, with the line, if the bytes are not a policy.
    public init(parsing bytes: [UInt8]) throws(CambiumError) {
        var parser = Parser()
        guard bytes.count <= Self.byteCountMax else { throw parser.error("a policy has at most 1 MiB") }
        var lines = NoteLines(bytes[...])
        while let line = lines.next() {
            parser.line += 1
            guard line.allSatisfy({ $0 == 0x09 || (0x20...0x7E).contains($0) || $0 >= 0x80 }) else {
                throw parser.error("the line has a control character")
            }
            let words = line.split { $0 == 0x20 || $0 == 0x09 }.map(Array.init)
            guard let first = words.first, first[0] != UInt8(ascii: "#") else { continue }
            try add(words, &parser)
        }
        parser.line += 1
        guard lines.remaining.isEmpty else { throw parser.error("the last line has no end") }
        guard parser.hasQuorum else { throw parser.error("there is no line 'quorum NAME', or 'quorum none'") }
    }

    private struct Parser {
        var line = 0
        var names: [[UInt8]: Int] = [:]
        /// The names that are members of a group or the quorum.
        var used: Set<[UInt8]> = []
        var hasQuorum = false

        func error(_ flaw: String) -> CambiumError {
            CambiumError(.invalidInput, "The policy is malformed: \(flaw).", place: .init(file: "policy", line: max(line, 1)))
        }

        /// Returns the index of a member. A member counts in one place only, so that no witness counts twice.
        mutating func use(_ name: [UInt8]) throws(CambiumError) -> Int {
            guard let index = names[name] else { throw error("no line before this one defines '\(text(name))'") }
            guard used.insert(name).inserted else { throw error("'\(text(name))' is already a member of a group") }
            return index
        }

        func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }
    }

    private mutating func add(_ words: [[UInt8]], _ parser: inout Parser) throws(CambiumError) {
        switch (parser.text(words[0]), words.count) {
        case ("log", 2...3):
            let key = try Self.key(words[1], .log, parser)
            guard !logs.contains(where: { $0.publicKey == key.publicKey }) else { throw parser.error("the log has another line") }
            logs.append(key)
        case ("witness", 3...4):
            let key = try Self.key(words[2], .witness, parser)
            guard !witnesses.contains(where: { $0.publicKey == key.publicKey }) else { throw parser.error("the witness has another line") }
            try define(words[1], .witness(key), &parser)
        case ("group", 4...):
            var indexes: [Int] = []
            for name in words[3...] { indexes.append(try parser.use(name)) }
            let threshold: Int? =
                switch parser.text(words[2]) {
                case "any": 1
                case "all": indexes.count
                default: NoteText.number(words[2]).flatMap { Int(exactly: $0) }
                }
            guard let threshold, (1...indexes.count).contains(threshold) else {
                throw parser.error("the second word of a group is 'any', 'all', or a number up to that of its members")
            }
            try define(words[1], .group(threshold: threshold, members: indexes), &parser)
        case ("quorum", 2):
            if parser.hasQuorum { throw parser.error("there is more than one line 'quorum'") }
            parser.hasQuorum = true
            if parser.text(words[1]) != "none" {
                guard let index = parser.names[words[1]] else { throw parser.error("no line before this one defines the quorum") }
                quorum = index
            }
        default: throw parser.error("a line is 'log KEY', 'witness NAME KEY', 'group NAME any|all|N NAME...' or 'quorum NAME'")
        }
    }

    private mutating func define(_ name: [UInt8], _ member: Member, _ parser: inout Parser) throws(CambiumError) {
        guard parser.text(name) != "none" else { throw parser.error("'none' cannot be the name of a witness or a group") }
        guard members.count < Self.memberCountMax else { throw parser.error("there are more than \(Self.memberCountMax) names") }
        guard parser.names.updateValue(members.count, forKey: name) == nil else {
            throw parser.error("'\(parser.text(name))' is defined twice")
        }
        members.append(member)
    }

    private static func key(_ word: [UInt8], _ kind: NoteKeyKind, _ parser: Parser) throws(CambiumError) -> NoteKey {
        do throws(CambiumError) {
            let key = try NoteKey(parsing: word[...])
            if key.kind == kind { return key }
        } catch {
            throw parser.error("the key cannot be used: \(error.message)")
        }
        let number = kind.rawValue
        throw parser.error("a \(kind == .log ? "log" : "witness") has a key of the algorithm \(number)")
    }

    /// Checks the checkpoint in a note: a log of the policy has signed it, and the witnesses of the quorum have cosigned it.
    ///
    /// Throws `.notProved` if the policy does not accept the note, and `.invalidInput` if its text is not a checkpoint.
    public func check(_ note: SignedNote) throws(CambiumError) {
        let head = try TreeHead(note)
        if logs.isEmpty { throw CambiumError(.invalidInput, "The policy names no log. Add a line 'log KEY'.") }
        let signers = try note.verify(with: logs + witnesses)
        guard signers.contains(where: { $0.kind == .log && $0.nameBytes == head.originBytes }) else { throw Trust.otherOrigin(head) }
        guard let quorum else { return }
        var hasCosigned: [Bool] = []
        for member in members {
            switch member {
            case .witness(let key): hasCosigned.append(signers.contains { $0.kind == .witness && $0.publicKey == key.publicKey })
            case .group(let threshold, let members): hasCosigned.append(members.count { hasCosigned[$0] } >= threshold)
            }
        }
        if !hasCosigned[quorum] {
            throw CambiumError(.notProved, "Too few witnesses of the policy have cosigned the checkpoint. Collect more cosignatures.")
        }
    }
}
