package import CambiumModel

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

    /// Maps the addresses for this many chunks, if the process has a limit of memory. Throws `.ioFailure` if the limit leaves too little.
    /// Without this call, the first read of a chunk would end a process that is out of memory.
    package func hold(_ chunkCount: Int) throws(CambiumError) {
        if !memory.hold(chunkCount) { throw .outOfMemory("the \(chunkCount) compressed chunks of a checkpoint, 64 KiB each") }
    }

    package func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer {
        if memory.isLimited {
            let base = memory.takeAddress()
            if !memory.takeLent(isForced: false), !storage.place(chunk, at: base) { _ = memory.takeLent(isForced: true) }
            return base
        }
        if let base = memory.takeChunk(isForced: false) ?? storage.memory(ofChunk: chunk) ?? memory.takeChunk(isForced: true) {
            return base
        }
        preconditionFailure("A forced request for memory must succeed or end the process.")
    }
}
