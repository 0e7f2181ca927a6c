internal import CambiumBytes
import CambiumModel

/// Finds the property for each key in a row. Most rows have the same keys in the same order, so each search begins after the key that the
/// previous search found.
struct KeyTable {
    enum Target: Hashable {
        case attribute(Int)
        case relationship(Int)
        /// A key at which paths of a mapping end or continue, as an index into `ReadingPlan.keys`.
        case mapped(Int)
    }

    /// The names, concatenated.
    private let bytes: [UInt8]
    /// The offset of each name, and the end of the last name.
    private let bounds: [Int]
    private let targets: [Target]
    /// The indexes of the names, ordered by length and then by bytes.
    private let sorted: [Int]
    /// The indexes of the names that are not in their canonical form, by this form.
    private let others: [[UInt8]: Int]
    /// The number of bytes beyond which no key can be a name in another form. Composition shortens a text to a third at most.
    private let formByteCountMax: Int
    private var expected = 0

    /// The number of names that are compared before a binary search begins. If a row omits a few keys, these comparisons find the next key,
    /// and no binary search is needed.
    private static let comparedCount = 4

    /// - Parameter keys: The keys. No two keys have the same name.
    init(_ keys: [(name: String, target: Target)]) {
        let names = keys.map { Array($0.name.utf8) }
        var others: [[UInt8]: Int] = [:]
        for (index, name) in names.enumerated() where !name.allSatisfy({ $0 < 0x80 }) {
            let form = CanonicalText.bytes(keys[index].name)
            if form != name, others[form] == nil { others[form] = index }
        }
        self.others = others
        formByteCountMax = 4 * (names.map(\.count).max() ?? 0)
        bytes = Array(names.joined())
        var bounds = [0]
        for name in names { bounds.append(bounds[bounds.count - 1] + name.count) }
        self.bounds = bounds
        targets = keys.map(\.target)
        sorted = names.indices.sorted { left, right in
            let (left, right) = (names[left], names[right])
            return left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
        }
    }

    /// Returns the target of a key; `nil` if the table does not contain the key.
    mutating func target(of key: UnsafeRawBufferPointer) -> Target? {
        var index = expected
        for _ in 0..<min(Self.comparedCount, targets.count) {
            if index >= targets.count { index = 0 }
            if isName(index, key) { return found(index) }
            index += 1
        }
        guard let place = self.index(of: key) else { return nil }
        return found(place)
    }

    /// Returns the target of a key whose canonical form (NFC) is the canonical form of a name; `nil` if there is no such name. The table
    /// must not contain the key itself. Complexity: O(bytes + log(names)).
    func target(ofOtherForm key: UnsafeRawBufferPointer) -> Target? {
        if !mayBeOtherForm(key) { return nil }
        let form = CanonicalText.bytes(String(decoding: key, as: UTF8.self))
        let index = form.withUnsafeBytes { self.index(of: $0) } ?? others[form]
        return index.map { targets[$0] }
    }

    /// Whether a key may be a name in another form. This is false for most keys without a property, such as `note_count`.
    @inline(__always) func mayBeOtherForm(_ key: UnsafeRawBufferPointer) -> Bool {
        key.count <= formByteCountMax && !(others.isEmpty && key.allSatisfy { $0 < 0x80 })
    }

    private func index(of key: UnsafeRawBufferPointer) -> Int? {
        let place = sorted.indices.prefixEnd { precedes(sorted[$0], key) }
        return place < sorted.count && isName(sorted[place], key) ? sorted[place] : nil
    }

    private mutating func found(_ index: Int) -> Target {
        expected = index + 1
        return targets[index]
    }

    @inline(__always) private func isName(_ index: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        let (start, end) = (bounds[index], bounds[index + 1])
        return end - start == key.count
            && bytes.withUnsafeBytes { ByteSearch.equals(UnsafeRawBufferPointer(rebasing: $0[start..<end]), key) }
    }

    private func precedes(_ index: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        let name = bytes[bounds[index]..<bounds[index + 1]]
        return name.count == key.count ? name.lexicographicallyPrecedes(key) : name.count < key.count
    }
}
