/// The steps of an edit that can be undone and redone.
struct EditHistory: Sendable {
    private(set) var done: [[EditWrite]] = []
    private(set) var undone: [[EditWrite]] = []
    /// The writes of the step in progress.
    private(set) var open: [EditWrite] = []
    /// The number of groups in progress.
    private(set) var depth = 0

    /// Begins a step, or a part of the step in progress. Returns the number of writes before it.
    mutating func begin() -> Int {
        depth += 1
        return open.count
    }

    mutating func note(_ write: EditWrite) { open.append(write) }

    /// Ends a step or a part of a step. If there are no writes, there is no step.
    mutating func end() {
        depth = max(0, depth - 1)
        if depth > 0 || open.isEmpty { return }
        done.append(open)
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

    /// All writes of all steps.
    var writes: [EditWrite] { (done + undone + [open]).flatMap(\.self) }
}
