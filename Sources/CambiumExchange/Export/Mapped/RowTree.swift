internal import CambiumJSON
import CambiumModel

/// A row that is built path by path. Its keys keep the order in which they were added.
struct RowTree {
    private enum Branch {
        case value(JSONValue)
        case tree(RowTree)

        var json: JSONValue {
            switch self {
            case .value(let value): value
            case .tree(let tree): tree.json
            }
        }
    }

    private var members: [(key: String, branch: Branch)] = []
    /// The index of each member, by the bytes of its key. Empty if there are at most `comparedCountMax` members, because a search compares
    /// so few members one by one.
    private var places: [[UInt8]: Int] = [:]
    private static let comparedCountMax = 16

    /// Puts a value at the end of a path of keys. Returns `false` if the end of the path has another value, or if a part of the path is not
    /// an object. Complexity: O(bytes of the keys).
    mutating func put(_ value: JSONValue, at keys: ArraySlice<String>) -> Bool {
        guard let key = keys.first else { return false }
        let place = place(of: key)
        if keys.count == 1 {
            guard let place else {
                append(key, .value(value))
                return true
            }
            // A mapping may read two properties from the same path. Both are then written to that path, so their values must be equal.
            if case .value(let other) = members[place].branch { return other == value }
            return false
        }
        guard let place else {
            var tree = RowTree()
            guard tree.put(value, at: keys.dropFirst()) else { return false }
            append(key, .tree(tree))
            return true
        }
        guard case .tree(var tree) = members[place].branch else { return false }
        // Removes the tree from the row during the change. Otherwise, the change would copy the members of the tree.
        members[place].branch = .value(.null)
        let isPut = tree.put(value, at: keys.dropFirst())
        members[place].branch = .tree(tree)
        return isPut
    }

    private func place(of key: String) -> Int? {
        places.isEmpty ? members.firstIndex { $0.key.hasSameBytes(as: key) } : places[Array(key.utf8)]
    }

    private mutating func append(_ key: String, _ branch: Branch) {
        members.append((key, branch))
        if members.count <= Self.comparedCountMax { return }
        for place in places.count..<members.count { places[Array(members[place].key.utf8)] = place }
    }

    var json: JSONValue { .object(members.map { .init($0.key, $0.branch.json) }) }

    /// Returns the value at a path, or `nil` if there is no value. Searches like an import: first for the whole path as one key, and then
    /// key by key.
    func value(at path: PropertyPath) -> JSONValue? {
        if let place = place(of: path.literal) { return members[place].branch.json }
        return path.keys.count == 1 ? nil : value(at: path.keys[...])
    }

    private func value(at keys: ArraySlice<String>) -> JSONValue? {
        guard let key = keys.first else { return json }
        guard let place = place(of: key) else { return nil }
        switch members[place].branch {
        case .tree(let tree): return tree.value(at: keys.dropFirst())
        case .value(let value): return Self.value(at: keys.dropFirst(), in: value)
        }
    }

    private static func value(at keys: ArraySlice<String>, in value: JSONValue) -> JSONValue? {
        var value = value
        for key in keys {
            if value == .null { return .null }
            guard case .object(let members) = value, let next = members.first(where: { $0.key.hasSameBytes(as: key) }) else { return nil }
            value = next.value
        }
        return value
    }
}
