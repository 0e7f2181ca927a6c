/// The objects whose derived attributes must be computed at the end of the transaction.
package struct DerivedNotes {
    /// For each derived column, `objects` are the objects whose value must be computed. `sources` are members with a changed value that the
    /// column reads, so the values of their owners must be computed. The array is empty if no change was recorded.
    private var notes: [(objects: RowNotes, sources: RowNotes)] = []

    var isEmpty: Bool { notes.isEmpty }

    mutating func trackObject(_ column: DerivedColumn, _ row: UInt32, of count: Int) {
        prepare(count)
        notes[column.number].objects.insert(row)
    }

    mutating func trackSource(_ column: DerivedColumn, _ row: UInt32, of count: Int) {
        prepare(count)
        notes[column.number].sources.insert(row)
    }

    /// - Parameter count: The number of derived columns of the layout.
    @inline(__always)
    private mutating func prepare(_ count: Int) {
        if notes.isEmpty { notes = [(RowNotes, RowNotes)](repeating: (RowNotes(), RowNotes()), count: count) }
    }

    func sources(_ column: DerivedColumn) -> RowNotes { notes[column.number].sources }
    func objects(_ column: DerivedColumn) -> RowNotes { notes[column.number].objects }
}

/// A set of rows that takes memory in proportion to its size: an array of a few rows, or bits for many rows.
struct RowNotes {
    private var rows: [UInt32] = []
    private var bits: RowSet?
    private var limit = 1024

    mutating func insert(_ row: UInt32) {
        if bits != nil {
            bits?.insert(row)
        } else if rows.last != row {
            rows.append(row)
            if rows.count >= limit { settle() }
        }
    }

    /// Removes duplicate rows from the array. If a set of bits would take at most 8 bytes for each row, replaces the array with that set.
    private mutating func settle() {
        rows = Self.sorted(rows)
        limit = 2 * max(rows.count, 512)
        guard let last = rows.last, Int(last) < 64 * rows.count else { return }
        var bits = RowSet()
        for row in rows { bits.insert(row) }
        (self.bits, rows) = (bits, [])
    }

    private static func sorted(_ rows: [UInt32]) -> [UInt32] {
        var found: [UInt32] = []
        for row in rows.sorted() where found.last != row { found.append(row) }
        return found
    }

    /// The rows in ascending order, without duplicates.
    var elements: [UInt32] {
        guard let bits else { return Self.sorted(rows) }
        var found: [UInt32] = []
        bits.forEach { found.append($0) }
        return found
    }
}
