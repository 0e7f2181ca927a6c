import CambiumModel

extension Graph {
    /// Checks that each derived attribute has the value of its expression. Complexity: O(objects and members that the expressions read).
    func checkDerived(_ findings: inout [String]) {
        for column in layout.derived.columns {
            let table = layout.tables[column.table]
            let rows = reader.rows(column.table)
            reader.forEachRow(of: table) { row in
                guard column.coversTable || column.family.contains(rows.entity(row, table)), isComparable(column, row) else { return }
                let isRight = rows.withCell(row, column.slot, column.kind) { hasDerivedValue(column, row, $0) }
                if !isRight {
                    let name = table.root?.name ?? ""
                    findings.append("\(name)/\(rows.serial(row)): '\(column.attribute.name)' does not have the value of its expression.")
                }
            }
        }
    }

    private func hasDerivedValue(_ column: DerivedColumn, _ row: UInt32, _ stored: Cell) -> Bool {
        do {
            let derived = try reader.readAll(column, row)
            let isRight = try StoredCell(try reader.value(derived, column), column.attribute).withCell { $0.equals(stored) }
            guard let slot = column.exactSlot, isRight else { return isRight }
            let rows = reader.rows(column.table)
            // A migration can leave an exact sum out. The next change of the members then reads all of them.
            return rows.isNullString(row, slot) || reader.exactCell(derived, column, row).withCell { rows.equals(row, slot, .string, $0) }
        } catch {
            return false  // The attribute cannot hold the value. No commit accepts such an object.
        }
    }

    /// Returns whether the stored value must be the value that this program computes. A folded text may differ, because another version of
    /// Unicode or of this program may have folded some of its characters differently.
    private func isComparable(_ column: DerivedColumn, _ row: UInt32) -> Bool {
        guard column.function == .folded, let source = column.source else { return true }
        return reader.rows(source.table).withCell(row, source.slot, source.kind) { cell in
            cell.kind != .bytes || cell.bytes.allSatisfy { $0 < 0x80 }
        }
    }
}
