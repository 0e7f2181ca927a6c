import CambiumGraph
import CambiumModel

/// Finds objects by attributes for which the schema has no index. Reads all objects once, and then records new and changed objects.
///
/// If several objects have the same values, a search finds the one with the lowest serial. Memory: O(objects of the hierarchy).
final class ScannedIdentity {
    private let attributes: [Int]
    private let table: ImportTable
    private let scope: Entity?
    /// For each key, the table row of the object with the key. If several objects have the key, this is the object with the lowest serial.
    private var rows: [[UInt8]: UInt32] = [:]
    /// For each key, the table rows of further objects that have or had the key. There is no entry for a key without further objects.
    private var others: [[UInt8]: Set<UInt32>] = [:]

    /// - Parameters:
    ///   - attributes: the indexes of the attributes in the entity of `table`.
    ///   - scope: the entity whose objects can be found, with its sub-entities; `nil` if any object of the hierarchy can be found.
    init(_ table: ImportTable, _ attributes: [Int], in scope: Entity?, _ draft: borrowing Draft) {
        self.table = table
        self.attributes = attributes
        self.scope = scope
        ImportWriter.forEachRow(draft, table) { row in
            guard let key = key(of: row, draft) else { return }
            if rows[key] == nil { rows[key] = row } else { others[key, default: []].insert(row) }
        }
    }

    /// Returns the table row of the object with these identity values; `nil` if there is no such object. Each value is in the form of
    /// `Cell.key`.
    func row(_ cells: [Cell], _ draft: borrowing Draft) -> UInt32? {
        var key: [UInt8] = []
        for cell in cells { Self.append(cell, to: &key) }
        // A hook may have changed the values of the object after its table row was recorded. In that case, another object may have the key.
        guard let row = rows[key] else { return nil }
        return self.key(of: row, draft) == key ? row : oldest(with: key, draft)
    }

    /// Records the key of the object whose table row is `row`.
    func track(_ row: UInt32, _ draft: borrowing Draft) {
        guard let key = key(of: row, draft) else { return }
        guard let known = rows[key], known != row else {
            rows[key] = row
            return
        }
        if self.key(of: known, draft) != key {
            others[key, default: []].insert(row)
            rows[key] = oldest(with: key, draft)
        } else if ImportWriter.id(draft, table, row) < ImportWriter.id(draft, table, known) {
            others[key, default: []].insert(known)
            rows[key] = row
        } else {
            others[key, default: []].insert(row)
        }
    }

    /// Returns the table row of the object in `others` that has the key. If several objects have the key, returns the table row of the one
    /// with the lowest serial. Complexity: O(objects that have or had the key).
    private func oldest(with key: [UInt8], _ draft: borrowing Draft) -> UInt32? {
        var found: UInt32?
        for row in others[key] ?? [] where self.key(of: row, draft) == key {
            if let best = found, ImportWriter.id(draft, table, best) < ImportWriter.id(draft, table, row) { continue }
            found = row
        }
        return found
    }

    /// Returns the key (the identity values as bytes) of the object in a table row. Returns `nil` if one of the values is null, or if the
    /// object is not in the scope.
    private func key(of row: UInt32, _ draft: borrowing Draft) -> [UInt8]? {
        if let scope, !scope.family.contains(ImportWriter.entity(draft, table, row)) { return nil }
        var key: [UInt8] = []
        for attribute in attributes {
            let isNull = ImportWriter.withCell(draft, table, row, attribute: attribute) { cell in
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
