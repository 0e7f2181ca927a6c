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

    /// Checks whether corruption hides which transactions were retired. Returns the first fault that hides them, and the last transaction
    /// before the fault; `nil` if there is no such fault. Complexity: opens all segments.
    package func retirementFlaw() throws(CambiumError) -> (reason: String, last: TransactionNumber)? {
        var flaw = try currentFlaw()
        for _ in 1..<Self.flawCountMax {
            guard let found = flaw else { return nil }
            // A writer may have retired segments while they were read, so only a fault that is found again is corruption.
            flaw = try currentFlaw()
            if let flaw, flaw == found { return flaw }
        }
        return flaw
    }

    /// The maximum number of attempts to read the segments while a writer retires them.
    private static let flawCountMax = 10

    private func currentFlaw() throws(CambiumError) -> (reason: String, last: TransactionNumber)? {
        let end: TransactionNumber
        do throws(CambiumError) {
            end = try retiredEnd()
        } catch {
            guard error.code == .corrupted else { throw error }
            return (error.description, TransactionNumber.none)
        }
        var next = TransactionNumber(rawValue: 1)
        for segment in try segments() {
            let last = TransactionNumber(rawValue: next.rawValue - 1)
            if segment > next, last == .none || segment <= end.next { return ("The log file with transaction \(next) is missing.", last) }
            do throws(CambiumError) {
                let reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
                if reader.header.kind == .retired, segment > end {
                    return ("The log files before transaction \(segment) are corrupt.", last)
                }
                next = max(next, reader.sealedEnd?.next ?? segment.next)
            } catch {
                if error.code == .corrupted { return (error.description, last) }
                // A writer may have merged the segment into an earlier one. A segment in a later format is not corrupt; if it is retired,
                // the attempt to read it together with the archive throws `.unsupportedFormat`.
                guard error.code == .notFound || error.code == .unsupportedFormat else { throw error }
            }
        }
        return nil
    }

    /// Returns the path of the archive that the store names, or `nil` if the store names no archive. If corruption hides which transactions
    /// were retired, returns the path even if the archive may lack some retired transactions.
    package func archiveOfCorruptStore() throws(CambiumError) -> String? {
        let end: TransactionNumber
        do throws(CambiumError) {
            if let archive = try archive() { return archive }
            end = try retiredEnd()
        } catch {
            guard error.code == .corrupted else { throw error }
            end = .none
        }
        // If nothing was retired, the note of an interrupted compaction does not matter.
        guard end == .none, try retirementFlaw() != nil else { return nil }
        return try ArchiveNote.read(volume, store: settings.store)?.archive
    }
}
