extension CambiumError {
    /// The remedy in each error about a corrupt checkpoint. It does not help if the log was retired and there is no older checkpoint.
    package static let checkpointRemedy = "Open the store again to use an older checkpoint or the log."

    /// Returns the error for a checkpoint that cannot be used.
    ///
    /// - Parameters:
    ///   - problem: The problem as a sentence, with its period.
    ///   - file: The file of the checkpoint, and the position in it; `nil` if the caller does not know the file.
    package static func corruptCheckpoint(_ problem: String, file: String? = nil) -> CambiumError {
        CambiumError(.corrupted, "\(problem) \(checkpointRemedy)", place: file.map { Place(file: $0) })
    }
}
