/// The result that a save of a record must have, computed without graphs and refs: each property is a list of numbers.
struct RecordSaveModel {
    typealias Values = [[Int]]

    /// One property of one object.
    struct Place: Hashable {
        let item: Int
        let property: Int
    }

    /// A record that the program holds.
    struct Handle {
        let item: Int
        /// The values that the record had when it was read or last saved.
        var base: Values
        /// The values of the graph on which the edit was based, and the number of the edit; `nil` for a record of the store.
        var edit: (graph: Values, lineage: Int)?
        /// The values that the last save in the edit replaced.
        var former: [Int: [Int]] = [:]
        /// The properties that the last save left alone, although the record had another value.
        var kept: Set<Int> = []
    }

    var store: [Values]
    private(set) var base: [Values]
    private(set) var lineage = 0
    private var overlay: [Place: [Int]] = [:]
    private var steps: [[(place: Place, before: [Int]?)]] = []

    init(_ store: [Values]) { (self.store, base) = (store, store) }

    // MARK: The edit

    /// The values that the edit shows.
    var edited: [Values] {
        var values = base
        for (place, value) in overlay { values[place.item][place.property] = value }
        return values
    }

    /// Makes changes of the edit, as one step of undo.
    mutating func change(_ item: Int, _ changes: [Int: [Int]]) {
        if changes.isEmpty { return }
        steps.append(changes.keys.map { (Place(item: item, property: $0), overlay[Place(item: item, property: $0)]) })
        for (property, value) in changes { overlay[Place(item: item, property: property)] = value }
    }

    mutating func undo() {
        for write in steps.popLast() ?? [] { overlay[write.place] = write.before }
    }

    var hasConflicts: Bool {
        overlay.contains { place, value in
            let theirs = store[place.item][place.property]
            return theirs != base[place.item][place.property] && theirs != value
        }
    }

    mutating func commit() {
        for (place, value) in overlay { store[place.item][place.property] = value }
        (base, overlay, steps) = (store, [:], [])
    }

    /// Begins another edit.
    mutating func restart() {
        (base, overlay, steps) = (store, [:], [])
        lineage += 1
    }

    // MARK: Saves

    enum Target { case store, edit }

    /// Returns the changes that a save must make, and the handle after it; `nil` if it must be a conflict.
    ///
    /// - Parameter current: The values that the target has.
    func save(_ handle: Handle, _ mine: Values, _ current: Values, to target: Target) -> (changes: [Int: [Int]], handle: Handle)? {
        let isOwn = target == .edit && handle.edit.map { $0.lineage == lineage } ?? false
        var (changes, saved) = ([Int: [Int]](), Handle(item: handle.item, base: mine))
        for property in mine.indices where mine[property] != current[property] {
            let isKnown = isOwn || handle.kept.contains(property)
            let read = isKnown ? handle.base[property] : handle.edit?.graph[property] ?? handle.base[property]
            if mine[property] == read {
                let former = isOwn && !handle.kept.contains(property) ? handle.former[property] : nil
                if let former, former == current[property] { return nil }
                saved.kept.insert(property)
            } else if current[property] != read {
                return nil
            } else {
                changes[property] = mine[property]
                saved.former[property] = current[property]
            }
        }
        saved.edit = target == .edit ? (base[handle.item], lineage) : nil
        return (changes, saved)
    }
}
