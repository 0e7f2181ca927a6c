/// The work of replaying changes, as a count that does not depend on the machine.
///
/// One unit is the work of about a nanosecond on the machine of Docs/PERFORMANCE.md. A writer counts the work of each transaction, and a
/// replay counts it again in the same way. Docs/CHECKPOINTS.md describes what is counted. The constants were measured once, and only their
/// proportions matter: they decide when a checkpoint is due, never what a graph contains.
package enum ReplayWork {
    /// Reading, verifying and decoding a transaction, in addition to its ops.
    package static let transaction = 600
    /// Recording the request of a transaction.
    package static let request = 1500
    /// Building a schema, without the rows that change.
    package static let schema = 100_000
    /// Inserting an object, without its values.
    package static let insertion = 700
    /// Finding an object that exists.
    package static let object = 300
    /// Storing a value that an op states.
    package static let value = 60
    /// Removing an object, without its links.
    package static let deletion = 450
    /// Adding or removing one link in lists without an order.
    package static let link = 450
    /// Adding, removing or moving one link in a list with an order, which is a tree.
    package static let orderedLink = 1450
    /// An object of a block, and a value of such an object.
    package static let blockObject = 80
    package static let blockValue = 25
    /// A link of a block, in a list without an order.
    package static let blockLink = 100
    /// Copying an object, without links whose lists must be built again.
    package static let copy = 80
    /// Copying a link that is a part of a tree, or of a many-to-many relationship.
    package static let copiedLink = 400
    /// Computing a derived value, without its members.
    package static let derivedValue = 500
    /// Reading a member for a derived value.
    package static let derivedMember = 60
    /// Adding an entry to an ordered index, or removing it.
    package static let indexEntry = 90
    /// Rebuilding a row for another schema, and entering it in a hash index.
    package static let migratedRow = 100
    /// Hashing an object for the digest of a graph.
    package static let digestedObject = 200

    /// Returns the work of a transaction without its ops.
    package static func work(of metadata: TransactionMetadata) -> Int { transaction + (metadata.requestID == nil ? 0 : request) }
}

extension Op {
    /// The work of replaying the op as far as the op itself states it. A draft adds the work that depends on the graph, such as the rows
    /// that a deletion reaches. Complexity: O(values of the op).
    package var replayWork: Int {
        switch self {
        case .schema: ReplayWork.schema
        case .insert(_, entity: _, let assignments): ReplayWork.insertion + Self.work(assignments)
        case .set(_, let assignments): ReplayWork.object + Self.work(assignments)
        case .link, .unlink, .move: 2 * ReplayWork.object + ReplayWork.orderedLink
        case .delete(let ids): ids.count * ReplayWork.object
        case .upsert(let block): block.replayWork
        case .relink(let block): block.replayWork
        case .clone(let clone): ReplayWork.object + clone.objectCount * ReplayWork.copy
        case .mark: ReplayWork.object + ReplayWork.value
        case .label, .digest, .undo: ReplayWork.object
        }
    }

    private static func work(_ assignments: [Assignment]) -> Int {
        assignments.reduce(0) { $0 + ReplayWork.value + $1.value.replayedByteCount }
    }
}

extension Value {
    /// The number of bytes that a replay of the value reads and copies, if the value has any length. Each byte is one unit of work.
    fileprivate var replayedByteCount: Int {
        switch self {
        case .string(let text), .uri(let text), .json(let text): text.utf8.count
        case .data(let data): data.count
        case .null, .bool, .int, .float, .double, .decimal, .date, .uuid: 0
        }
    }
}

extension UpsertBlock {
    fileprivate var replayWork: Int {
        var byteCount = 0
        for column in columns { if case .variable(_, let bytes) = column.content { byteCount += bytes.count } }
        return serials.count * (ReplayWork.blockObject + columns.count * ReplayWork.blockValue) + byteCount
    }
}

extension LinkBlock {
    fileprivate var replayWork: Int {
        let owners = serials.count * ReplayWork.blockObject
        return switch content {
        case .toOne(let targets): owners + targets.count * ReplayWork.blockLink
        case .unordered(_, let removed, _, let added): owners + (removed.count + added.count) * ReplayWork.blockLink
        case .ordered(_, _, let suffixes): owners + suffixes.count * ReplayWork.orderedLink
        }
    }
}
