/// Memory for chunks that were stored compressed: of the budget, and beyond it a file's, which the system writes and takes out of memory
/// as it likes.
///
/// SAFETY: what is handed out stays as long as this does.
///
/// SENDABLE: one thread at a time uses it.
package final class UnpackedMemory: @unchecked Sendable {
    private let memory: PageMemory
    private let storage: any PageStorage

    /// - Parameter storage: a file that has no name.
    package init(_ budget: MemoryBudget, beyondIt storage: any PageStorage) {
        memory = PageMemory(budget: budget)
        self.storage = storage
    }

    package func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer {
        if let base = memory.takeChunk(isForced: false) ?? storage.memory(ofChunk: chunk) ?? memory.takeChunk(isForced: true) {
            return base
        }
        preconditionFailure("Memory that is forced is had, or the process has ended.")
    }
}
