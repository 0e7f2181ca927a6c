package import CambiumModel

extension LogReader {
    /// Returns the path of the archive that contains everything that was retired, or `nil` if the store names no such archive. Complexity:
    /// opens O(log n) files, where n is the number of segments.
    package func archive() throws(CambiumError) -> String? {
        guard let note = try ArchiveNote.read(volume, store: settings.store) else { return nil }
        let end = try retiredEnd()
        return end != .none && end <= note.end ? note.archive : nil
    }
}
