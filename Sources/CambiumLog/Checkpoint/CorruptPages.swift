import CambiumBytes
package import CambiumModel
import Glibc

/// Ends a process that finds corrupt pages while it reads a graph, in code that cannot throw an error.
package enum CorruptPages {
    private static let handler = Guarded<(@Sendable (CambiumError) -> Never)?>(nil)

    /// Replaces the handler that ends the process. Without a handler, the process prints the error and aborts.
    package static func setHandler(_ body: @escaping @Sendable (CambiumError) -> Never) { handler.withLock { $0 = body } }

    static func end(_ error: CambiumError) -> Never {
        if let body = handler.withLock({ $0 }) { body(error) }
        let message = Array("cambium: \(error)\n".utf8)
        _ = message.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        abort()
    }
}

/// The errors of a stored graph that is corrupt.
extension PageFile {
    /// Tries to leave a mark in the store, so that the next opening checks all stored graphs completely. Then ends the process, as
    /// `CorruptPages` describes.
    ///
    /// - Parameter reason: The fault of the pages, as the end of a sentence without a period.
    package func refuse(_ reason: String) -> Never { end(flaw(reason)) }

    func end(_ error: CambiumError) -> Never {
        // If the mark cannot be created, a process that reads the chunk later finds the same corruption.
        try? volume.replace(Self.damageMark, Array("\(error)\n".utf8))
        CorruptPages.end(error)
    }

    /// Returns the error for pages that have the right checksums, but do not form a valid graph.
    package func flaw(_ reason: String) -> CambiumError {
        .corruptCheckpoint(
            "The pages of checkpoint \(root.transaction) do not form a valid graph: \(reason).", file: "\(volume.name)/\(path)")
    }

    func damage(_ index: Int) -> CambiumError {
        .corruptCheckpoint(
            "Chunk \(index) of the pages differs from the bytes that checkpoint \(root.transaction) stored.",
            file: "\(volume.name)/\(path) offset \(index * Self.chunkByteCount)")
    }
}
