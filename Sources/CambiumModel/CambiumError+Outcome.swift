extension CambiumError {
    /// The disk failed after it was given bytes that may be read at the next opening.
    ///
    /// - Parameter transaction: nil if it is not known which transactions those bytes hold.
    package static func outcomeUnknown(_ transaction: TransactionNumber?, _ cause: CambiumError) -> CambiumError {
        let subject = transaction.map { "transaction \($0)" } ?? "what had been written"
        return CambiumError(
            .outcomeUnknown,
            "The disk failed while \(subject) was being made durable, so the store may have it or not. Open the store again and look, "
                + "or repeat the command with the same request id. The cause: \(cause.message)",
            underlying: cause)
    }
}
