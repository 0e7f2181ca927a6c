import CambiumBytes
package import CambiumModel

/// Neighboring segments that get no more frames, and that the sealer merges into one segment.
package struct SegmentRun: Sendable, Equatable {
    /// The number of the first transaction of each segment, in ascending order.
    package private(set) var segments: [TransactionNumber]
    package private(set) var byteCount: Int
    /// Whether the segments are retired: compaction has removed the ops of their transactions.
    package let isRetired: Bool

    init(_ segment: TransactionNumber, byteCount: Int, isRetired: Bool) {
        (segments, self.byteCount, self.isRetired) = ([segment], byteCount, isRetired)
    }

    /// Adds the segment that precedes the first segment, if that segment fits. Returns whether it was added. A segment fits if it has the
    /// same `isRetired` as the run, and at most twice as many bytes as the run. The extended run must have at most `byteCountMax` bytes.
    mutating func add(_ segment: TransactionNumber, byteCount: Int, isRetired: Bool, byteCountMax: Int) -> Bool {
        guard isRetired == self.isRetired, byteCount <= 2 * self.byteCount, byteCount + self.byteCount <= byteCountMax else { return false }
        segments.insert(segment, at: 0)
        self.byteCount += byteCount
        return true
    }
}

/// A segment that gets no more frames.
package struct ClosedSegment: Sendable {
    /// The number of the first transaction.
    package let first: TransactionNumber
    package let byteCount: Int
    let kind: Format.FileKind

    /// Whether the segment is not sealed yet.
    package var isOpen: Bool { kind == .open }
}

extension SegmentSealer {
    /// Returns the segments before `end`, in ascending order. Complexity: opens O(segments) files.
    package func closedSegments(before end: TransactionNumber) throws(CambiumError) -> [ClosedSegment] {
        var found: [ClosedSegment] = []
        for segment in try LogDirectory.segments(volume) where segment < end {
            let reader = try FrameReader(volume, path: LogFileName.path(segment, .segment))
            found.append(ClosedSegment(first: segment, byteCount: reader.byteCount, kind: reader.header.kind))
        }
        return found
    }

    /// Returns the runs of segments to merge, the newest run first. A segment that could not be sealed is not in any run.
    ///
    /// A run grows from its newest segment. Each older segment joins the run if it is at most twice as large as the run so far. So each
    /// byte is rewritten O(log n) times, and n small segments become O(log n) segments.
    ///
    /// - Parameter closed: the result of `closedSegments(before:)`.
    package func mergeableRuns(in closed: [ClosedSegment]) -> [SegmentRun] {
        if mergedByteCountMax <= 0 { return [] }
        var runs: [SegmentRun] = []
        var run: SegmentRun?
        for segment in closed.reversed() {
            let (first, byteCount, isRetired) = (segment.first, segment.byteCount, segment.kind == .retired)
            if segment.kind.isSealed,
                run?.add(first, byteCount: byteCount, isRetired: isRetired, byteCountMax: mergedByteCountMax) == true
            {
                continue
            }
            if let run { runs.append(run) }
            run = segment.kind.isSealed ? SegmentRun(first, byteCount: byteCount, isRetired: isRetired) : nil
        }
        if let run { runs.append(run) }
        return runs.filter { $0.segments.count > 1 }
    }

    /// Merges segments into one segment, which has the name of the first segment.
    ///
    /// The index lists the checksum of each joint (a frame without transactions that marks a position in the log) and of the end of each
    /// segment. So the positions of checkpoints stay valid. Throws as `seal` does. A crash leaves the segments as they were, or the merged
    /// segment and some of the old segments. Complexity: O(bytes), with memory for one frame.
    ///
    /// - Returns: the number of bytes by which the merged segment is smaller than the old segments together.
    @discardableResult
    package func merge(_ run: SegmentRun) throws -> Int {
        guard let first = run.segments.first, let last = run.segments.last, first < last else { return 0 }
        let header = try reader(of: first).header
        let range = first...(try range(of: reader(of: last)).upperBound)
        let byteCount = try write(run.segments, range, header, run.isRetired ? .retired : .sealed)
        try removeNow(Array(run.segments.dropFirst()))
        return run.byteCount - byteCount
    }
}
