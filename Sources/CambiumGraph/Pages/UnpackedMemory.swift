/// Memory for chunks that were stored compressed. If the budget is exhausted, the memory is a mapping of a file, which the operating system
/// can evict.
///
/// SAFETY: memory that was handed out stays mapped as long as this object exists.
///
/// SENDABLE: one thread at a time uses the object.
package final class UnpackedMemory: @unchecked Sendable {
    private let memory: PageMemory
    private let storage: any PageStorage

    /// - Parameter storage: An unnamed file for the chunks that exceed the budget.
    package init(_ budget: MemoryBudget, beyondIt storage: any PageStorage) {
        memory = PageMemory(budget: budget)
        self.storage = storage
    }

    package func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer {
        if let base = memory.takeChunk(isForced: false) ?? storage.memory(ofChunk: chunk) ?? memory.takeChunk(isForced: true) {
            return base
        }
        preconditionFailure("A forced request for memory must succeed or end the process.")
    }
}
