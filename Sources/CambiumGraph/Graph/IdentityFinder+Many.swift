internal import CMachine

extension IdentityFinder {
    /// Returns the object of each identity of a list. The result has `nil` for each text for which `find(_:)` returns `nil`.
    ///
    /// Several lookups wait for memory at the same time, so the call takes less time than one call to `find(_:)` for each identity.
    /// Complexity: O(list).
    public func find(_ texts: [String]) -> [ObjectPlace?] {
        guard takesTexts else { return texts.map { _ in nil } }
        return places(texts.count) { number in
            Self.withBytes(of: texts[number]) { hash($0) }
        } find: { number, hash in
            Self.withBytes(of: texts[number]) { find($0, hash) }
        }
    }

    /// Returns the object of each identity of a list. The result has `nil` for an identity for which `find(_:)` returns `nil`. Complexity:
    /// O(list).
    public func find(_ numbers: [Int64]) -> [ObjectPlace?] {
        // A number that does not fit the identity has no hash. Its lookup uses the hash 0, and then finds no object.
        places(numbers.count) {
            cell(numbers[$0]).map(hash) ?? 0
        } find: { number, hash in
            cell(numbers[number]).flatMap { find($0, hash) }
        }
    }

    /// The number of lookups for which memory is prefetched at the same time.
    private static let stepCount = 32

    /// A lookup in progress: the hash of the wanted identity, and the first row that the index has for this hash.
    private struct Step {
        let hash: UInt64
        var row = noRow
    }

    /// Looks up several identities together: does one step of the lookup for all of them, then the next step. Each step prefetches the
    /// memory that the next step reads.
    private func places(
        _ count: Int, hash: (Int) -> UInt64, find: (_ number: Int, _ hash: UInt64) -> ObjectPlace?
    ) -> [ObjectPlace?] {
        var places: [ObjectPlace?] = []
        places.reserveCapacity(count)
        withUnsafeTemporaryAllocation(of: Step.self, capacity: Self.stepCount) { steps in
            for first in stride(from: 0, to: count, by: Self.stepCount) {
                let part = 0..<min(Self.stepCount, count - first)
                for place in part {
                    let hash = hash(first + place)
                    steps.initializeElement(at: place, to: Step(hash: hash))
                    if let page = bucket(hash) { Bucket(page).prefetchHome(of: hash) }
                }
                for place in part { steps[place].row = prefetchCell(steps[place].hash) }
                for place in part { prefetchKey(steps[place].row) }
                for place in part { places.append(find(first + place, steps[place].hash)) }
            }
        }
        return places
    }

    /// Prefetches the cell of the first row that the index has for a hash. Returns this row, or `noRow` if the index has no row.
    @inline(__always) private func prefetchCell(_ hash: UInt64) -> UInt32 {
        guard let page = bucket(hash), let row = Bucket(page).firstRow(Bucket.fragment(hash), where: { _ in true }) else { return noRow }
        let leaf = keys.leaf(row)
        if case .fixed(let width) = kind {
            FixedLeaf(leaf).prefetch(row, width: width)
        } else {
            cmachine_prefetch(StringLeaf(leaf).cells + Int(row & PageLayout.rowMask))
        }
        return row
    }

    /// Prefetches the bytes of a row's key, if the key is a text.
    @inline(__always) private func prefetchKey(_ row: UInt32) {
        guard row != noRow, kind == .string else { return }
        let leaf = keys.leaf(row)
        let cell = StringLeaf(leaf).cell(row)
        if cell == 0 || StringLeaf.isBlob(cell) { return }
        let bytes = StringLeaf(leaf).inlineBytes(cell)
        guard let start = bytes.baseAddress, let last = bytes.indices.last else { return }
        cmachine_prefetch(start)
        cmachine_prefetch(start + last)
    }
}
