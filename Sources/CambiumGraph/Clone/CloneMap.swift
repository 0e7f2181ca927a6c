import CambiumBytes
package import CambiumModel

/// The copy of each object that a clone copied. The map takes a few bits for each object.
package struct CloneMap: Sendable {
    struct Hierarchy: Sendable {
        let root: EntityNumber
        let firstSerial: UInt64
        let pages: [CloneRows.Page]
        let count: Int
    }

    /// The hierarchies with copied objects, by ascending number of the root entity.
    private let hierarchies: [Hierarchy]

    package init(_ plan: borrowing ClonePlan, _ draft: borrowing Draft) {
        let layout = draft.layout
        let rows = plan.rows
        hierarchies = plan.hierarchies.compactMap { hierarchy in
            guard let table = layout.table(of: hierarchy.root) else { return nil }
            let copied = rows[table.index]
            return Hierarchy(root: hierarchy.root, firstSerial: hierarchy.firstSerial, pages: copied.pages, count: copied.count)
        }
    }

    /// The number of copied objects.
    package var count: Int { hierarchies.reduce(0) { $0 + $1.count } }

    /// Returns the copy of an object, or `nil` if the object was not copied. Complexity: O(log objects).
    package func copy(of id: ObjectID) -> ObjectID? {
        let number = hierarchies.indices.prefixEnd { hierarchies[$0].root < id.root }
        guard number < hierarchies.count, hierarchies[number].root == id.root else { return nil }
        let hierarchy = hierarchies[number]
        let virtualPage = id.serial >> UInt64(PageLayout.fanOutShift)
        let index = hierarchy.pages.indices.prefixEnd { UInt64(hierarchy.pages[$0].virtualPage) < virtualPage }
        guard index < hierarchy.pages.count, hierarchy.pages[index].virtualPage == virtualPage else { return nil }
        let page = hierarchy.pages[index]
        let bit = UInt128(1) << UInt128(id.serial & UInt64(PageLayout.fanOutMask))
        guard page.bits & bit != 0 else { return nil }
        let rank = UInt64(page.rank) + UInt64((page.bits & (bit - 1)).nonzeroBitCount)
        return ObjectID(root: id.root, serial: hierarchy.firstSerial + rank)
    }

    /// Calls `body` with each object and its copy, by ascending id of the object.
    package func forEach<Failure: Error>(
        _ body: (_ original: ObjectID, _ copy: ObjectID) throws(Failure) -> Void
    ) throws(Failure) {
        for hierarchy in hierarchies {
            var serial = hierarchy.firstSerial
            for page in hierarchy.pages {
                let base = UInt64(page.virtualPage) << UInt64(PageLayout.fanOutShift)
                var bits = page.bits
                while bits != 0 {
                    let original = ObjectID(root: hierarchy.root, serial: base + UInt64(bits.trailingZeroBitCount))
                    try body(original, ObjectID(root: hierarchy.root, serial: serial))
                    serial += 1
                    bits &= bits - 1
                }
            }
        }
    }
}
