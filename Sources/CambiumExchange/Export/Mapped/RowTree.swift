internal import CambiumJSON
import CambiumModel

/// A row that is built path by path. Its keys keep the order in which they were added.
struct RowTree {
    private enum Branch {
        case value(JSONValue)
        case tree(RowTree)
    }

    private var members: [(key: String, branch: Branch)] = []

    /// Puts a value at the end of a path of keys. Returns `false` if the end of the path has another value, or if a part of the path is not
    /// an object.
    mutating func put(_ value: JSONValue, at keys: ArraySlice<String>) -> Bool {
        guard let key = keys.first else { return false }
        let place = members.firstIndex { ByteText.equals($0.key, key) }
        if keys.count == 1 {
            guard let place else {
                members.append((key, .value(value)))
                return true
            }
            // A mapping may read two properties from the same path. Both are then written to that path, so their values must be equal.
            if case .value(let other) = members[place].branch { return other == value }
            return false
        }
        var tree = RowTree()
        if let place {
            guard case .tree(let own) = members[place].branch else { return false }
            tree = own
        }
        guard tree.put(value, at: keys.dropFirst()) else { return false }
        if let place { members[place].branch = .tree(tree) } else { members.append((key, .tree(tree))) }
        return true
    }

    var json: JSONValue {
        .object(
            members.map { key, branch in
                switch branch {
                case .value(let value): .init(key, value)
                case .tree(let tree): .init(key, tree.json)
                }
            })
    }
}

extension PropertyPath {
    /// Returns the value at the path in a row, or `nil` if there is no value. Searches like an import: first for the whole path as one key,
    /// and then key by key.
    func value(in row: JSONValue) -> JSONValue? {
        if let value = Self.member(literal, of: row) { return value }
        if keys.count == 1 { return nil }
        var value = row
        for key in keys {
            if value == .null { return .null }
            guard let next = Self.member(key, of: value) else { return nil }
            value = next
        }
        return value
    }

    private static func member(_ key: String, of value: JSONValue) -> JSONValue? {
        guard case .object(let members) = value else { return nil }
        return members.first { ByteText.equals($0.key, key) }?.value
    }
}
