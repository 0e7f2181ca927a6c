extension CambiumError {
    /// Returns the error for a disk failure that leaves the result of a write unknown. When the store is opened again, it may or may not
    /// contain the written bytes.
    ///
    /// - Parameter transaction: The transaction that was written; `nil` if the caller does not know which transaction it was.
    package static func outcomeUnknown(_ transaction: TransactionNumber?, _ cause: CambiumError) -> CambiumError {
        let subject = transaction.map { "transaction \($0)" } ?? "the last write"
        return CambiumError(
            .outcomeUnknown,
            "The disk failed while \(subject) was being made durable, so the store may or may not contain it. "
                + "Open the store again and look for the change, or repeat the command with the same request id. "
                + "The cause: \(cause.message)",
            underlying: cause)
    }
}
