/// The steps of an edit, for undo and redo.
struct EditHistory: Sendable {
    private(set) var done: [[EditWrite]] = []
    private(set) var undone: [[EditWrite]] = []
    /// The writes of the step in progress.
    private(set) var open: [EditWrite] = []
    /// The groups in progress, the outermost first.
    private var groups: [Group] = []

    private struct Group {
        /// The number of writes of the step before the group began.
        let mark: Int
        /// For each list that the group writes, the index in `open` of the write of that list.
        var lists: [EditPlace: Int] = [:]
    }

    /// The number of groups in progress.
    var depth: Int { groups.count }

    /// Begins a step, or a part of the step in progress. Returns the number of writes that the step already has.
    mutating func begin() -> Int {
        groups.append(Group(mark: open.count))
        return open.count
    }

    /// Adds a write to the step in progress. Each write of a list contains all members, so a group keeps only one write for each list.
    mutating func note(_ write: EditWrite) {
        if case .list(let place, _, let after) = write, let group = groups.indices.last {
            if let index = groups[group].lists[place], index < open.count, case .list(place, let before, _) = open[index] {
                open[index] = .list(place, before: before, after: after)
                return
            }
            groups[group].lists[place] = open.count
        }
        open.append(write)
    }

    /// Ends a step or a part of a step. Discards a step without writes.
    mutating func end() {
        if let ended = groups.popLast(), !groups.isEmpty {
            let writes = Array(open.suffix(max(0, open.count - ended.mark)))
            open.removeLast(writes.count)
            for write in writes { note(write) }
            return
        }
        if open.isEmpty { return }
        done.append(open.map(\.trimmed))
        open = []
        undone = []
    }

    /// Removes the last write of the step in progress, if there are more than `mark` writes.
    mutating func takeOpen(after mark: Int) -> EditWrite? { open.count > mark ? open.popLast() : nil }

    mutating func takeDone() -> [EditWrite]? {
        guard depth == 0, let step = done.popLast() else { return nil }
        undone.append(step)
        return step
    }

    mutating func takeUndone() -> [EditWrite]? {
        guard depth == 0, let step = undone.popLast() else { return nil }
        done.append(step)
        return step
    }

    /// The writes of all steps, including the undone steps and the step in progress.
    var writes: [EditWrite] { (done + undone + [open]).flatMap(\.self) }
}
