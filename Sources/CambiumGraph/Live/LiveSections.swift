import CambiumBytes
import CambiumModel

/// A part of the result of a live query: the objects that have one value of the section key.
///
/// ```swift
/// let people = store.live(try Query("Person", sort: "name"), sections: try SortKey(parsing: "city.name"))
/// for try await update in people {
///     for section in update.sections { print(section.value, section.range) }
/// }
/// ```
public struct LiveSection: Hashable, Sendable {
    /// The value of the section key. If equal values have several forms, such as 0.0 and -0.0, this value has the form that the first
    /// object had when the section was inserted.
    public let value: QueryValue
    /// The indexes of the section's objects in the result.
    public let range: Range<Int>
}

/// The sections of a live query, in order, with the numbers of their objects.
struct LiveSections {
    private struct Section {
        let key: [UInt8]
        let value: QueryValue
        var count: Int
    }

    private var sections: [Section] = []

    var list: [LiveSection] {
        var end = 0
        return sections.map { section in
            defer { end += section.count }
            return LiveSection(value: section.value, range: end..<end + section.count)
        }
    }

    /// Updates the sections for the objects that the result lost and gained. Returns the indexes of deleted sections in the old list, and
    /// the indexes of inserted sections in the new list.
    ///
    /// - Parameter value: Returns the value of the section key of an object.
    mutating func update(_ difference: LiveDifference, _ value: (LiveEntry) -> QueryValue) -> (deleted: [Int], inserted: [Int]) {
        var counts: [[UInt8]: Int] = [:]
        for item in difference.removed { counts[item.entry.section, default: 0] -= 1 }
        for item in difference.added { counts[item.entry.section, default: 0] += 1 }
        var fresh: [Section] = []
        for item in difference.added where index(of: item.entry.section) == nil {
            if fresh.last?.key != item.entry.section { fresh.append(Section(key: item.entry.section, value: value(item.entry), count: 0)) }
        }
        for index in sections.indices { sections[index].count += counts[sections[index].key] ?? 0 }
        for index in fresh.indices { fresh[index].count = counts[fresh[index].key] ?? 0 }
        let deleted = sections.indices.filter { sections[$0].count == 0 }
        if deleted.isEmpty, fresh.isEmpty { return ([], []) }
        let isFresh = Set(fresh.map(\.key))
        sections = (sections.filter { $0.count > 0 } + fresh).sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return (deleted, sections.indices.filter { isFresh.contains(sections[$0].key) })
    }

    private func index(of key: [UInt8]) -> Int? {
        let index = sections.indices.prefixEnd { sections[$0].key.lexicographicallyPrecedes(key) }
        return index < sections.count && sections[index].key == key ? index : nil
    }
}
