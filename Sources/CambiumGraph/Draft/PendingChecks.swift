import CambiumModel

/// The conditions that must hold at the end of a transaction, and that cannot be checked earlier.
struct PendingChecks {
    struct Denial {
        let object: ObjectID
        let entity: EntityNumber
        let relationship: PropertyNumber
        let members: [ObjectID]
    }

    /// If true, no checks are recorded. This is the case in a replay, because the writer made all checks before it wrote the log.
    var isOff = false
    private(set) var objects: [ObjectPlace] = []
    private(set) var duplicates: [(table: Int, index: Int, row: UInt32)] = []
    var denials: [Denial] = []
    /// The ranges of `objects` that deletions added.
    private(set) var deletions: [Range<Int>] = []
    /// The checks that a migration needs.
    var migration: MigrationChecks?

    /// Records that the mandatory attributes and the numbers of members of an object must be checked again.
    @inline(__always) mutating func trackObject(_ table: Int, _ row: UInt32) {
        if isOff { return }
        objects.append(ObjectPlace(table: table, row: row))
    }

    var isEmpty: Bool { objects.isEmpty && duplicates.isEmpty && denials.isEmpty && migration == nil }

    var objectCount: Int { objects.count }

    mutating func forgetObjects(after count: Int) {
        objects.removeLast(objects.count - count)
        while let last = deletions.last, last.upperBound > count {
            deletions.removeLast()
            if last.lowerBound < count { deletions.append(last.lowerBound..<count) }
        }
    }

    /// Records that the elements of `objects` from index `count` on were added by a deletion.
    mutating func trackDeletion(since count: Int) {
        if count < objects.count { deletions.append(count..<objects.count) }
    }

    /// Returns the objects that deletions affected (`reached`) and the objects that other changes affected (`changed`). An object may be in
    /// both arrays.
    func split() -> (changed: [ObjectPlace], reached: [ObjectPlace]) {
        if deletions.isEmpty { return (objects, []) }
        var (changed, reached): ([ObjectPlace], [ObjectPlace]) = ([], [])
        var done = 0
        for range in deletions {
            changed += objects[done..<range.lowerBound]
            reached += objects[range]
            done = range.upperBound
        }
        return (changed + objects[done...], reached)
    }

    mutating func takeDuplicates() -> [(table: Int, index: Int, row: UInt32)] {
        defer { duplicates = [] }
        return duplicates
    }

    mutating func reportDuplicate(_ table: Int, _ index: Int, _ row: UInt32) { duplicates.append((table, index, row)) }
}
