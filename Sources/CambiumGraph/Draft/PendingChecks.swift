import CambiumModel

/// What has to hold at the end of a transaction and can only be seen then.
struct PendingChecks {
    struct Denial {
        let object: ObjectID
        let entity: EntityNumber
        let relationship: PropertyNumber
        let members: [ObjectID]
    }

    /// Whether nothing is noted, because it was looked at before: in a replay.
    var isOff = false
    private(set) var objects: [ObjectPlace] = []
    private(set) var duplicates: [(table: Int, index: Int, row: UInt32)] = []
    var denials: [Denial] = []
    /// Places in `objects` that a deletion noted.
    private(set) var deletions: [Range<Int>] = []
    /// What a migration brought.
    var migration: MigrationChecks?

    /// Mandatory attributes and numbers of members are looked at again.
    @inline(__always) mutating func noteObject(_ table: Int, _ row: UInt32) {
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

    /// Notes that a deletion reached the objects that were noted since there were so many.
    mutating func noteDeletion(since count: Int) {
        if count < objects.count { deletions.append(count..<objects.count) }
    }

    /// The objects that something else than a deletion changed, and the objects that only deletions changed.
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

    mutating func noteDuplicate(_ table: Int, _ index: Int, _ row: UInt32) { duplicates.append((table, index, row)) }
}
