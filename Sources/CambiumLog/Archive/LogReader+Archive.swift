package import CambiumModel

extension LogReader {
    /// Returns the path of the archive that the store names, if this archive contains all retired transactions; otherwise `nil`. Also
    /// returns `nil` if no transaction was retired.
    ///
    /// Complexity: opens O(log n) files, where n is the number of segments.
    package func archive() throws(CambiumError) -> String? {
        guard let note = try ArchiveNote.read(volume, store: settings.store) else { return nil }
        let end = try retiredEnd()
        return end != .none && end <= note.end ? note.archive : nil
    }
}
