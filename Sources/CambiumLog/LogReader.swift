import CambiumBytes
public import CambiumModel

/// Reads the log of a store and judges how it ends. It writes nothing.
public struct LogReader: Sendable {
    public static let directory = "log"

    public let volume: any Volume
    public let settings: StoreSettings
    let head: Head?
    /// What is wrong, and does no harm: a damaged slot of HEAD, a file that is not one of ours.
    public let flaws: [String]

    /// Throws `.notFound` where there is no store, `.damaged` where its settings cannot be read.
    public init(_ volume: any Volume) throws(CambiumError) {
        try self.init(volume, settings: try StoreSettings.read(volume))
    }

    /// The settings that the segments and checkpoints of a store imply, if its own settings cannot be read.
    ///
    /// Throws `.damaged` if no header of a segment and no checkpoint record can be read.
    public static func impliedSettings(_ volume: any Volume) throws(CambiumError) -> StoreSettings {
        for segment in try segments(volume) {
            // Another file may have what this one has lost.
            guard let header = try? FrameReader(volume, path: LogFileName.path(segment, .segment)).header else { continue }
            return StoreSettings(store: header.store, creationTime: segment.rawValue == 1 ? header.creationTime : 0, durability: .synced)
        }
        for root in try RootRecord.list(volume) {
            guard let store = try RootRecord.store(in: volume.bytes(of: RootRecord.path(root))) else { continue }
            return StoreSettings(store: store, creationTime: 0, durability: .synced)
        }
        throw CambiumError(
            .damaged, "The settings of the store, its segments and its checkpoints cannot be read.", place: .init(file: volume.name))
    }

    /// Reads the log of a store whose settings are known.
    public init(_ volume: any Volume, settings: StoreSettings) throws(CambiumError) {
        self.volume = volume
        self.settings = settings
        let (head, headFlaws) = try Head.read(volume, store: settings.store)
        self.head = head
        var flaws = headFlaws.map { "\(Head.fileName) \($0)" }
        for name in try volume.list(Self.directory) where LogFileName.parse(name) == nil {
            if !name.hasSuffix(LogFileName.replacementSuffix) { flaws.append("\(Self.directory)/\(name) is not a file of the log") }
        }
        self.flaws = flaws
    }

    /// The last transaction that HEAD says was durable; none if there is no HEAD.
    public var lastDurableTransaction: TransactionNumber { head?.lastTransaction ?? .none }

    /// What HEAD says of the tree over the log; nil if it says nothing.
    public var headTree: Head.Tree? { head?.tree }

    /// The last transaction of which only the envelope is left; none where all is there. Complexity: O(log segments) files are looked at.
    public func retiredEnd() throws(CambiumError) -> TransactionNumber {
        try Self.whileSegmentsStay { () throws(CambiumError) -> TransactionNumber in
            // They are retired from the first one on.
            let segments = try segments()
            var (low, high) = (0, segments.count)
            while low < high {
                let middle = (low + high) / 2
                if try Self.isRetired(segment: segments[middle], volume) { low = middle + 1 } else { high = middle }
            }
            guard low > 0, low < segments.count else { return .none }
            return TransactionNumber(rawValue: segments[low].rawValue - 1)
        }
    }

    /// How often segments that a writer merges meanwhile are listed again.
    private static let listingCountMax = 100

    /// Calls `body`, and again if a segment that it has listed is gone because a writer has merged it with others.
    private static func whileSegmentsStay<Result>(_ body: () throws(CambiumError) -> Result) throws(CambiumError) -> Result {
        for _ in 1..<listingCountMax {
            do throws(CambiumError) {
                return try body()
            } catch {
                guard error.code == .notFound else { throw error }
            }
        }
        return try body()
    }

    /// The first transactions of the segments, ascending.
    func segments() throws(CambiumError) -> [TransactionNumber] { try Self.segments(volume) }

    static func segments(_ volume: any Volume) throws(CambiumError) -> [TransactionNumber] {
        try volume.list(Self.directory).compactMap { name in
            LogFileName.parse(name).flatMap { $0.suffix == .segment ? $0.number : nil }
        }
    }

    /// Whether of a transaction no more than the envelope is left, and no checkpoint is of it. Complexity: O(files).
    public func isRetired(_ transaction: TransactionNumber) throws(CambiumError) -> Bool {
        guard try Self.hasRetired(transaction, volume) else { return false }
        return try !RootRecord.list(volume).contains(transaction)
    }

    /// Whether of a transaction no more than the envelope is left. Complexity: O(files).
    static func hasRetired(_ transaction: TransactionNumber, _ volume: any Volume) throws(CambiumError) -> Bool {
        try whileSegmentsStay { () throws(CambiumError) -> Bool in
            guard let segment = try segments(volume).last(where: { $0 <= transaction }) else { return false }
            return try isRetired(segment: segment, volume)
        }
    }

    /// A segment whose header does not verify is none that was retired.
    private static func isRetired(segment: TransactionNumber, _ volume: any Volume) throws(CambiumError) -> Bool {
        do {
            return try FrameReader(volume, path: LogFileName.path(segment, .segment)).header.kind == .retired
        } catch {
            guard error.headerFailure != nil else { throw error }
            return false
        }
    }

    /// The segments that have transactions up to `last`.
    public static func segments(_ volume: any Volume, upTo last: TransactionNumber) throws(CambiumError) -> [TransactionNumber] {
        try segments(volume).filter { $0 <= last }
    }

    /// Bytes of a segment, without files of ops.
    public static func byteCount(_ volume: any Volume, _ segment: TransactionNumber) throws(CambiumError) -> Int {
        try volume.byteCount(of: LogFileName.path(segment, .segment))
    }

    /// Of a file that was listed: 0 where who writes has removed it since.
    private static func listedByteCount(_ volume: any Volume, _ name: String) throws(CambiumError) -> Int {
        do {
            return try volume.byteCount(of: directory + "/" + name)
        } catch {
            guard error.code == .notFound else { throw error }
            return 0
        }
    }

    /// The segments of a log, and the bytes of its files. Complexity: O(files).
    public static func files(_ volume: any Volume) throws(CambiumError) -> (segmentCount: Int, byteCount: Int) {
        var (segmentCount, byteCount) = (0, 0)
        for name in try volume.list(directory) {
            guard let file = LogFileName.parse(name), file.suffix != .pending else { continue }
            if file.suffix == .segment { segmentCount += 1 }
            byteCount += try listedByteCount(volume, name)
        }
        return (segmentCount, byteCount)
    }

    /// The bytes of log up to each of some checkpoints, files of ops included.
    ///
    /// - Parameter ends: ascending.
    /// Complexity: O(files), and the index of a sealed segment for each checkpoint inside of one.
    public static func byteCounts(_ volume: any Volume, upTo ends: [Prefix]) throws(CambiumError) -> [Int] {
        let files = try volume.list(directory).compactMap { name in LogFileName.parse(name).map { (name: name, file: $0) } }
        let segments = files.filter { $0.file.suffix == .segment }.map(\.file.number)
        var counts: [Int] = []
        var total = 0
        for (name, file) in files where file.suffix != .pending {
            while counts.count < ends.count, ends[counts.count].transaction < file.number {
                counts.append(total - (try byteCount(volume, segments, after: ends[counts.count])))
            }
            total += try listedByteCount(volume, name)
        }
        while counts.count < ends.count { counts.append(total - (try byteCount(volume, segments, after: ends[counts.count]))) }
        return counts
    }

    /// The bytes of a segment up to a position, or all of them if the position is not inside of it.
    public static func byteCount(_ volume: any Volume, _ segment: TransactionNumber, upTo end: Prefix) throws(CambiumError) -> Int {
        var reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        return try reader.begin(after: end) ? reader.offset : reader.byteCount
    }

    /// The bytes that follow a position in its segment; 0 if it is at the end, and if the segment cannot be read.
    private static func byteCount(
        _ volume: any Volume, _ segments: [TransactionNumber], after end: Prefix
    ) throws(CambiumError) -> Int {
        guard let segment = segments.last(where: { $0 <= end.transaction }), !segments.contains(end.transaction.next) else { return 0 }
        do throws(CambiumError) {
            var reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
            return try reader.begin(after: end) ? reader.byteCount - reader.offset : 0
        } catch {
            guard error.code == .notFound || error.code == .damaged else { throw error }
            return 0
        }
    }

    /// The error of a store whose log has no segment.
    static func withoutSegment(_ volume: any Volume) -> CambiumError {
        CambiumError(
            .damaged,
            "The log has no segment, so it has no transaction. Restore the store from a backup, or save its checkpoints with "
                + "'cambium repair'.",
            place: .init(file: "\(volume.name)/\(directory)"))
    }

    /// The error of a directory whose log has no transaction.
    public static func withoutTransaction(_ volume: any Volume) -> CambiumError {
        CambiumError(
            .notFound,
            "'\(volume.name)' is not a store yet: its creation was interrupted before the first transaction, which has the schema. "
                + "It holds no data; remove it, and create the store again.")
    }

    /// Where the log ends, and what is behind its end.
    public struct End: Sendable {
        public enum Verdict: Sendable, Equatable {
            case clean
            /// Bytes behind the last frame that verifies, none of which were known durable.
            case tornTail(file: String, offset: Int, byteCount: Int)
            /// A segment whose making was interrupted.
            case tornCreation(file: String)
        }

        public var verdict = Verdict.clean
        public var lastTransaction = TransactionNumber.none
        /// Microseconds since 1970; the creation time of the store where there is no transaction.
        public var lastTime: Int64
        /// Bytes of the segments, up to the last frame that verifies, and of the files of ops that they name.
        public var byteCount = 0
        public var segmentCount = 0
        /// The state in which the last segment is gone on with.
        var tail: SegmentTail?
        /// Throws `.notFound` if there is no transaction: a store exists once the first one, which has the schema, is durable.
        ///
        /// - Parameter volume: the one that the log is on.
        public func requireTransaction(in volume: any Volume) throws(CambiumError) {
            if lastTransaction == .none { throw LogReader.withoutTransaction(volume) }
        }

        /// What was damaged and passed over.
        public var flaws: [String] = []
        /// What is wrong with HEAD beside a log that verifies; nil if nothing is.
        public internal(set) var headFlaw: String?
    }

    /// The part of a log that a checkpoint stands for.
    public struct Prefix: Sendable {
        public let transaction: TransactionNumber
        let time: Int64
        let position: LogPosition
        /// Whether the checksum of the position is lost, so that what follows need not name it.
        let isChecksumLost: Bool

        public init(transaction: TransactionNumber, time: Int64, position: LogPosition, isChecksumLost: Bool = false) {
            self.transaction = transaction
            self.time = time
            self.position = position
            self.isChecksumLost = isChecksumLost
        }

        public init(_ root: RootRecord) {
            self.init(transaction: root.transaction, time: root.time, position: root.logPosition)
        }
    }

    struct SegmentTail: Sendable {
        let header: SegmentHeader
        let headerChecksum: UInt32
        let position: Int
        let lastChecksum: UInt32
        /// Whether the checksum is lost, so that it need not be the one that the next segment names.
        let isChecksumLost: Bool
        /// Up to where HEAD or a frame says that the segment was durable.
        let durableOffset: Int
        let codec: TransactionCodec
        /// The joint that the frames end with.
        let jointOffset: Int?
    }

    /// The first transaction, durable.
    ///
    /// Throws `.damaged` if it does not verify, `.notFound` if there is none.
    public func firstRecord() throws -> LogRecord {
        struct Reached: Error {
            let record: LogRecord
        }
        do {
            try scan(makesDurable: true) { throw Reached(record: $0) }.requireTransaction(in: volume)
        } catch let reached as Reached { return reached.record }
        throw CambiumError(.damaged, "The log does not begin with a transaction.", place: .init(file: Self.directory))
    }

    /// Calls `body` with every transaction from `first` on, in order.
    ///
    /// Throws `.damaged` where the log is corrupt, after `body` has seen all that verifies before the damage; and what `body`
    /// throws. FORMAT.md 8 has the table of cases. Complexity: O(bytes of the segments from the one with `first` on), of a sealed
    /// one from the frame with it on.
    ///
    /// - Parameter makesDurable: whether another process may write meanwhile: then what is read is made durable first, so that
    ///   nobody acts on what a loss of power may take.
    /// - Parameter salvages: whether sealed segments are read whose index is damaged; that they are is in the flaws of the end.
    /// - Parameter base: what is known to stand before the transaction that is begun with.
    public func scan(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), after base: Prefix? = nil, makesDurable: Bool = false,
        salvages: Bool = false, _ body: (LogRecord) throws -> Void
    ) throws -> End {
        var place: SegmentPlace?
        return try scan(from: first, after: base, makesDurable: makesDurable, salvages: salvages, at: &place, body)
    }

    /// The same, from a place at which an earlier reading ended, if the place still leads to `first`.
    ///
    /// - Parameter place: receives where this reading ends, even if it throws.
    public func scan(
        from first: TransactionNumber, after base: Prefix?, makesDurable: Bool, salvages: Bool = false, at place: inout SegmentPlace?,
        _ body: (LogRecord) throws -> Void
    ) throws -> End {
        var cursor = try LogCursor(
            self, from: base?.transaction.next ?? first, after: base, isBesideWriter: makesDurable, salvages: salvages, at: place)
        defer { place = cursor.place }
        try cursor.advance(body)
        return try cursor.judge(body)
    }
}

extension Volume {
    /// Everything in a small file.
    func bytes(of path: String) throws(CambiumError) -> [UInt8] {
        let file = try open(path, .read)
        defer { file.close() }
        let byteCount = try file.byteCount()
        guard byteCount <= 1 << 20 else { throw CambiumError(.damaged, "The file has more than 1 MiB.", place: .init(file: path)) }
        return try file.read(at: 0, count: byteCount)
    }

    func byteCount(of path: String) throws(CambiumError) -> Int {
        let file = try open(path, .read)
        defer { file.close() }
        return try file.byteCount()
    }
}
