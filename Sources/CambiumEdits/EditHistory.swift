/// The steps of an edit, for undo and redo. A step is a list of writes: the small changes that one call or one group of calls made.
struct EditHistory: Sendable {
    private(set) var done: [[EditWrite]] = []
    private(set) var undone: [[EditWrite]] = []
    /// The writes of the step in progress.
    private(set) var open: [EditWrite] = []
    /// For each write in `open`, whether it changes what the edit shows. Other writes only state what the edit shows already.
    private var changes: [Bool] = []
    /// The groups in progress, the outermost first.
    private var groups: [Group] = []

    private struct Group {
        /// The number of writes that the step had when the group began.
        let mark: Int
        /// For each ordered relationship that the group writes, the index of its write in `open`.
        var lists: [EditPlace: Int] = [:]
    }

    /// The number of groups in progress.
    var depth: Int { groups.count }

    /// Begins a group of calls, and a new step if no step is in progress. Returns the number of writes that the step already has.
    mutating func begin() -> Int {
        groups.append(Group(mark: open.count))
        return open.count
    }

    /// Adds a write to the step in progress. A write of an ordered relationship contains all members, so a group keeps only one write for
    /// each ordered relationship.
    ///
    /// - Parameter isChange: Whether the write changes what the edit shows.
    mutating func track(_ write: EditWrite, isChange: Bool) {
        if case .list(let place, _, let after) = write, let group = groups.indices.last {
            if let index = groups[group].lists[place], index < open.count, case .list(place, let before, _) = open[index] {
                open[index] = .list(place, before: before, after: after)
                changes[index] = changes[index] || isChange
                return
            }
            groups[group].lists[place] = open.count
        }
        open.append(write)
        changes.append(isChange)
    }

    /// Ends the innermost group. The end of the outermost group ends the step; a step without writes is discarded. A step that changes
    /// nothing that the edit shows joins the step before it, because undoing it alone would have no visible effect.
    mutating func end() {
        if let ended = groups.popLast(), !groups.isEmpty {
            let writes = Array(zip(open.dropFirst(ended.mark), changes.dropFirst(ended.mark)))
            open.removeLast(writes.count)
            changes.removeLast(writes.count)
            for (write, isChange) in writes { track(write, isChange: isChange) }
            return
        }
        let writes = open.map(\.trimmed)
        if changes.contains(true) {
            done.append(writes)
            undone = []
        } else if !done.isEmpty {
            done[done.count - 1] += writes
        }
        (open, changes) = ([], [])
    }

    /// Removes the last write of the step in progress, if there are more than `mark` writes.
    mutating func takeOpen(after mark: Int) -> EditWrite? {
        if open.count <= mark { return nil }
        changes.removeLast()
        return open.removeLast()
    }

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
