import CambiumGraph

/// A table that finds objects by identity attributes for which the schema has no index. It reads all objects once, and then records the
/// objects that the import inserts or changes.
///
/// If several objects have the same values, it finds the object with the lowest number in its id. Memory: O(objects of the hierarchy).
final class ScannedIdentity {
    private let attributes: [Int]
    private let table: ImportTable
    private var rows: [[UInt8]: UInt32] = [:]

    /// - Parameter attributes: the indexes of the attributes in the entity of `table`.
    init(_ table: ImportTable, _ attributes: [Int], _ draft: borrowing Draft) {
        self.table = table
        self.attributes = attributes
        draft.forEachRow(table) { row in
            if let key = key(of: row, draft), rows[key] == nil { rows[key] = row }
        }
    }

    /// Returns the table row of the object with these identity values; `nil` if there is no such object. Each value is in the form of
    /// `Cell.key`.
    func row(_ cells: [Cell], _ draft: borrowing Draft) -> UInt32? {
        var key: [UInt8] = []
        for cell in cells { Self.append(cell, to: &key) }
        // A hook may have changed the values of the object after its table row was recorded.
        guard let row = rows[key], self.key(of: row, draft) == key else { return nil }
        return row
    }

    /// Records the key (the identity values) of the object in a table row, unless another object has the same key.
    func note(_ row: UInt32, _ draft: borrowing Draft) {
        guard let key = key(of: row, draft) else { return }
        if let known = rows[key], self.key(of: known, draft) == key { return }
        rows[key] = row
    }

    /// Returns the key (the identity values as bytes) of the object in a table row; `nil` if one of the values is null.
    private func key(of row: UInt32, _ draft: borrowing Draft) -> [UInt8]? {
        var key: [UInt8] = []
        for attribute in attributes {
            let isNull = draft.withCell(table, row, attribute: attribute) { cell in
                Self.append(cell.key(table.entity.attributes[attribute].type), to: &key)
                return cell.kind == .null
            }
            if isNull { return nil }
        }
        return key
    }

    private static func append(_ cell: Cell, to key: inout [UInt8]) {
        let words = cell.kind == .bytes ? [UInt64(cell.bytes.count)] : [cell.low, cell.high]
        key.append(cell.kind.rawValue)
        for word in words {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { key.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        if cell.kind == .bytes { key.append(contentsOf: cell.bytes) }
    }
}
