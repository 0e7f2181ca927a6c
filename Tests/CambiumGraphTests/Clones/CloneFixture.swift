import Cambium
import CambiumGraph
import CambiumJSON
import CambiumLog
import TestFixtures
import Testing

/// A store that is filled from lines, and the lines that its export is expected to have.
///
/// The lines have the form of an export, except that null and empty members are omitted and that keys may be in any order. `$a` stands
/// for a given UUID, `$new1` for the first UUID of the export that was not given, and `$now` for the time of the clone. In the lines that
/// fill a store, one side of a link is enough.
final class CloneFixture {
    let volume = MemoryVolume()
    let store: Store
    /// The expected lines, by id. A line stays expected until a test gives another line for its id.
    private(set) var lines: [String: String] = [:]

    init(_ schema: String, _ given: String) throws {
        let schema = try Schema(SchemaDefinition(json: Array(schema.utf8)))
        let bytes = fixedEnvironment().randomBytes
        store = try Store.create(
            volume, schema: schema, durability: .synced, environment: StoreEnvironment(now: { CloneLine.now }, randomBytes: bytes))
        try store.write { try CloneLine.load(given, into: &$0) }
        lines = try CloneLine.all(of: store.graph)
    }

    func id(_ text: String) throws -> ObjectID { try #require(store.schema.id(text)).id }

    /// Clones objects, and expects that only the given lines of the graph change.
    @discardableResult
    func clone(
        _ ids: String..., with request: CloneRequest = CloneRequest(), gives expected: String,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Clone {
        let ids = try ids.map { try id($0) }
        let preview = try store.graph.previewClone(of: ids, request)
        let (clone, receipt) = try store.write { try $0.clone(ids, request) }
        #expect(receipt.logByteCount <= 256, sourceLocation: location)
        #expect(preview.objectCount == clone.map.count && clone.summary.objectCount == clone.map.count, sourceLocation: location)
        #expect(clone.roots == ids.compactMap(clone.map.copy(of:)), sourceLocation: location)
        clone.map.forEach { original, copy in
            #expect(store.graph.source(of: copy) == original && clone.map.copy(of: original) == copy, sourceLocation: location)
            let provenance = store.graph.place(of: copy).map(store.graph.provenance)
            #expect(provenance?.created == receipt.transaction, sourceLocation: location)
        }
        try expect(expected, at: location)
        return clone
    }

    /// Expects that only the given lines differ from the last expectation. A line with `"_gone":true` means a deleted object.
    func expect(_ expected: String, at location: SourceLocation = #_sourceLocation) throws {
        for (id, line) in try CloneLine.parsed(expected) { lines[id] = line.contains(#""_gone":true"#) ? nil : line }
        let found = try CloneLine.all(of: store.graph)
        for id in Set(lines.keys).union(found.keys).sorted() {
            #expect(found[id] == lines[id], sourceLocation: location)
        }
        try expectSound(at: location)
    }

    /// Expects that a clone and its preview are refused and change nothing.
    func expectRefusal(
        _ code: CambiumError.Code, of ids: String..., with request: CloneRequest = CloneRequest(), mentioning words: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let (files, digest, ids) = (volume.contents, store.graph.digest(), try ids.map { try id($0) })
        let refusals: [() throws -> Void] = [
            { try self.store.write { _ = try $0.clone(ids, request) } }, { _ = try self.store.graph.previewClone(of: ids, request) },
        ]
        for refusal in refusals {
            let error = #expect(throws: CambiumError.self, sourceLocation: location) { try refusal() }
            #expect(error?.code == code, sourceLocation: location)
            let text = error?.description ?? ""
            for word in words { #expect(text.contains(word), sourceLocation: location) }
        }
        #expect(volume.contents == files && store.graph.digest() == digest, sourceLocation: location)
        try expectSound(at: location)
    }

    /// Expects that the graph and its pages are sound, and that a replay of the log results in the same graph.
    func expectSound(at location: SourceLocation = #_sourceLocation) throws {
        #expect(store.graph.invariantFindings() == [], sourceLocation: location)
        #expect(store.pageFindings == [], sourceLocation: location)
        let replayed = try Store.reopened(volume)
        #expect(replayed.graph.digest() == store.graph.digest(), sourceLocation: location)
        #expect(replayed.graph.export == store.graph.export, sourceLocation: location)
        #expect(replayed.pageFindings == [], sourceLocation: location)
    }
}

/// Lines of an export in the form in which tests write them.
enum CloneLine {
    static let now = Timestamp(microsecondsSince1970: 1_700_000_000_000_000)

    /// Returns the line of each object of a graph, by its id.
    static func all(of graph: Graph) throws -> [String: String] {
        var names = CloneNames()
        var found: [String: String] = [:]
        for line in graph.export.split(separator: "\n") {
            let (id, members) = try members(line)
            found[id] = text(members.map { .init($0.key, names.named($0.value)) })
        }
        return found
    }

    static func parsed(_ lines: String) throws -> [(id: String, line: String)] {
        try lines.split(separator: "\n").map { line in
            let (id, members) = try members(line)
            return (id, text(members))
        }
    }

    private static func members(_ line: Substring) throws -> (id: String, [JSONValue.Member]) {
        guard case .object(let members) = try JSONValue(parsing: line.utf8), case .string(let id)? = members.first?.value else {
            throw CambiumError(.invalidInput, "A line must be an object that begins with its id: \(line)")
        }
        return (id, members)
    }

    private static func text(_ members: [JSONValue.Member]) -> String {
        let members = members.filter { $0.value != .null && $0.value != .array([]) }
        return JSONValue.object(members.sorted { $0.key < $1.key }).text
    }

    /// Inserts objects in the order of the lines, and then links them in the same order.
    static func load(_ lines: String, into transaction: inout WriteTransaction) throws {
        let lines = try lines.split(separator: "\n").map { try members($0) }
        let schema = transaction.schema
        for (name, members) in lines {
            let (id, entity) = try #require(schema.id(name))
            let values = try members.compactMap { member in
                try entity.attribute(member.key).map { ($0, try Value(json: CloneNames.unnamed(member.value), type: $0.type)) }
            }
            #expect(try transaction.insert(entity, values) == id, "lines must be in the order of their ids")
        }
        for (name, members) in lines {
            let (id, entity) = try #require(schema.id(name))
            for member in members {
                guard let relationship = entity.relationship(member.key) else { continue }
                for target in targets(member.value) {
                    try transaction.link(id, relationship, try #require(schema.id(target)).id)
                }
            }
        }
    }

    private static func targets(_ value: JSONValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(targets)
        default: []
        }
    }
}

/// The names that replace UUIDs and the time of a clone.
struct CloneNames {
    private static let prefix = "00000000-0000-4000-8000-"
    private var new: [String: Int] = [:]

    /// Returns the UUID of a name, and any other value unchanged.
    static func unnamed(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value, text.hasPrefix("$") else { return value }
        let digits = text.dropFirst().utf8.map { String($0, radix: 16) }.joined()
        return .string(prefix + String(repeating: "0", count: 12 - digits.count) + digits)
    }

    mutating func named(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value else { return value }
        if text == CloneLine.now.description { return .string("$now") }
        guard text.utf8.count == 36, (try? Value(text: text, type: .uuid)) != nil else { return value }  // Other text is not changed.
        if text.hasPrefix(Self.prefix) {
            let digits = Array(text.dropFirst(Self.prefix.count))
            let bytes = stride(from: 0, to: 12, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }.drop { $0 == 0 }
            return .string("$" + String(decoding: bytes, as: UTF8.self))
        }
        let number = new[text] ?? new.count + 1
        new[text] = number
        return .string("$new\(number)")
    }
}
