internal import CambiumBytes
import CambiumGraph
import CambiumModel
import Synchronization

/// The newest versions of a store. An observer reads them to get each transaction without a replay. Versions are kept only while at least
/// one observer wants each transaction separately.
///
/// The writer adds a version before readers see it, so an observer must not use a version that is newer than the visible graph. Two limits
/// bound the memory: the number of versions, and the total size of the pages that only older versions still use. The last two versions
/// always stay.
final class RecentVersions: Sendable {
    /// A version, and the transaction that led to it.
    struct Moment: Sendable {
        var graph: Graph
        /// The metadata of the transaction; `nil` if the transaction precedes the first observer.
        let metadata: TransactionMetadata?
        /// The number of bytes of this version's pages that the next transaction replaced or dropped.
        var byteCount = 0
    }

    /// One transaction, with the graphs before and after it. Its changes are the differences between these two graphs.
    struct Step: Sendable {
        let before: Graph
        let after: Graph
        let metadata: TransactionMetadata
    }

    private struct State {
        var interestCount = 0
        /// The kept versions, in a ring buffer: the index of a version is the number of its transaction modulo the size of the buffer. The
        /// buffer grows with the number of versions, because most observers receive a version before the next one is added.
        var moments: [Moment?] = []
        var numbers: Range<UInt64> = 0..<0
        var byteCount = 0

        func place(_ number: UInt64) -> Int { Int(number % UInt64(moments.count)) }

        mutating func grow(to count: Int) {
            var larger = [Moment?](repeating: nil, count: count)
            for number in numbers { larger[Int(number % UInt64(count))] = moments[place(number)] }
            moments = larger
        }
    }

    /// The size of the ring buffer for the first versions.
    private static let firstCapacity = 16

    private let state = Guarded(State())
    private let wanted = Atomic(false)
    private let byteCountMax: Int
    private let capacity: Int

    init(countMax: Int = 4096, byteCountMax: Int = 64 << 20) { (capacity, self.byteCountMax) = (countMax, byteCountMax) }

    // MARK: Observers

    /// Keeps versions, beginning with the next transaction, until `endInterest` has been called as often as this method.
    func beginInterest() {
        state.withLock { state in
            state.interestCount += 1
            wanted.store(true, ordering: .relaxed)
        }
    }

    func endInterest() {
        let released = state.withLock { state in
            state.interestCount -= 1
            if state.interestCount > 0 { return State() }
            wanted.store(false, ordering: .relaxed)
            let old = state
            state = State()
            return old
        }
        // The graphs are released outside of the lock, because their release may free all pages of a store.
        _ = consume released
    }

    /// Returns the transaction that follows `number`, with the graphs before and after it, or `nil` if the two graphs are not kept.
    func step(after number: TransactionNumber) -> Step? {
        state.withLock { state in
            let number = number.rawValue
            guard state.numbers.contains(number), state.numbers.contains(number + 1) else { return nil }
            guard let before = state.moments[state.place(number)], let after = state.moments[state.place(number + 1)] else { return nil }
            return after.metadata.map { Step(before: before.graph, after: after.graph, metadata: $0) }
        }
    }

    /// Returns whether the version after a transaction is kept.
    func contains(_ number: TransactionNumber) -> Bool { state.withLock { $0.numbers.contains(number.rawValue) } }

    /// The number of versions that are kept.
    var count: Int { state.withLock { $0.numbers.count } }

    /// The number of versions for which memory is allocated.
    var allocatedCount: Int { state.withLock { $0.moments.count } }

    // MARK: The writer

    /// Whether at least one observer wants each transaction separately. Complexity: one relaxed load.
    var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// Adds a version. Call this method only while the writer's lock is held, before readers see the version.
    ///
    /// - Parameters:
    ///   - previous: the version on which the transaction builds. If `isConfirmed` is true, `previous` replaces the kept version of the
    ///     same transaction, because packing may have moved rows.
    ///   - isConfirmed: whether `previous` can no longer be rolled back. If `previous` can still be rolled back, no observer may receive
    ///     this version, because its transaction may become durable in another version.
    ///   - supersededByteCount: returns the number of bytes of a version's pages that later versions no longer use.
    func add(
        _ graph: Graph, after previous: Graph, isConfirmed: Bool = true, _ metadata: TransactionMetadata,
        supersededByteCount: (Graph) -> Int = { _ in 0 }
    ) {
        let released = state.withLock { state in
            var released: [Moment?] = []
            if state.interestCount == 0 { return released }
            let number = graph.transaction.rawValue
            if state.numbers.isEmpty || state.numbers.upperBound != number {
                released = state.moments
                state.moments = Array(repeating: nil, count: min(Self.firstCapacity, capacity))
                (state.numbers, state.byteCount) = (number - 1..<number, 0)
                state.moments[state.place(number - 1)] = Moment(graph: previous, metadata: nil)
            } else if isConfirmed {
                replaceLast(by: previous, in: &state, supersededByteCount).map { released.append($0) }
            }
            if state.numbers.count == capacity {
                released.append(dropOldest(&state))
            } else if state.numbers.count == state.moments.count {
                state.grow(to: min(2 * state.moments.count, capacity))
            }
            state.moments[state.place(number)] = Moment(graph: graph, metadata: metadata)
            state.numbers = state.numbers.lowerBound..<number + 1
            return released
        }
        _ = consume released
    }

    /// Replaces the last version with a packed version of the same transaction, in which rows were moved so that pages become free. The
    /// version before the last one may still use pages that packing dropped. If so, the bytes of these pages are added to its `byteCount`.
    private func replaceLast(by packed: Graph, in state: inout State, _ supersededByteCount: (Graph) -> Int) -> Moment? {
        guard let number = state.numbers.last, let replaced = state.moments[state.place(number)] else { return nil }
        state.moments[state.place(number)]?.graph = packed
        let byteCount = supersededByteCount(replaced.graph)
        if byteCount > 0, state.numbers.count > 1 {
            state.moments[state.place(number - 1)]?.byteCount += byteCount
            state.byteCount += byteCount
        }
        return replaced
    }

    /// Records the number of bytes of a version's pages that the next version no longer uses. If the total is too large, drops the oldest
    /// versions. Call this method only while the writer's lock is held.
    func track(byteCount: Int, supersededFrom number: TransactionNumber) {
        let released = state.withLock { state in
            var released: [Moment?] = []
            guard state.numbers.contains(number.rawValue) else { return released }
            state.moments[state.place(number.rawValue)]?.byteCount = byteCount
            state.byteCount += byteCount
            while state.byteCount > byteCountMax, state.numbers.count > 2 { released.append(dropOldest(&state)) }
            return released
        }
        _ = consume released
    }

    /// Removes the versions after a transaction, because they were rolled back. Call this method only while the writer's lock is held.
    func removeAll(after last: TransactionNumber) {
        let released = state.withLock { state in
            var released: [Moment?] = []
            while !state.numbers.isEmpty, state.numbers.upperBound > last.rawValue + 1 {
                let number = state.numbers.upperBound - 1
                released.append(remove(number, from: &state))
                state.numbers = state.numbers.lowerBound..<number
            }
            // The byte count of the last version includes the pages that a rolled-back transaction replaced. The next transaction replaces
            // different pages, so the count is no longer valid.
            if let number = state.numbers.last {
                state.byteCount -= state.moments[state.place(number)]?.byteCount ?? 0
                state.moments[state.place(number)]?.byteCount = 0
            }
            return released
        }
        _ = consume released
    }

    private func dropOldest(_ state: inout State) -> Moment? {
        let number = state.numbers.lowerBound
        defer { state.numbers = number + 1..<state.numbers.upperBound }
        return remove(number, from: &state)
    }

    private func remove(_ number: UInt64, from state: inout State) -> Moment? {
        let moment = state.moments[state.place(number)]
        state.moments[state.place(number)] = nil
        state.byteCount -= moment?.byteCount ?? 0
        return moment
    }
}
