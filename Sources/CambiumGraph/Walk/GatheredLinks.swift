import Synchronization

/// The arrays with the links of a walk. They are made when walks have followed so many links that the arrays pay off.
///
/// So the time for making them stays in proportion to the time of the walks before.
final class GatheredLinks: Sendable {
    /// The number of links that walks must follow before the arrays are made; `Int.max` if no step needs an array.
    private let followedCountMin: Int
    private let followedCount = Atomic<Int>(0)
    private let isGathering = Atomic<Bool>(false)
    private let arrays = Mutex<[LinkArray?]>([])
    /// The maximum number of elements for one step.
    private let elementCountMax: Int

    /// The arrays are made when walks have followed one link for this many elements of the arrays.
    private static let followedPart = 4

    init(_ steps: [WalkStep], _ reader: Reader, elementCountMax: Int = LinkArray.elementCountMax) {
        self.elementCountMax = elementCountMax
        let counts = steps.compactMap { LinkArray.elementCount($0, reader) }.filter { $0 <= elementCountMax }
        followedCountMin = counts.isEmpty ? .max : counts.reduce(0, +) / Self.followedPart
    }

    /// Adds links that a walk has followed without the arrays.
    func note(followedCount count: Int) { followedCount.add(count, ordering: .relaxed) }

    /// Returns an array for each step that has one, or an empty list if no arrays are made yet. The first call after enough links makes the
    /// arrays; calls of other threads in the meantime return an empty list.
    func current(_ steps: [WalkStep], _ reader: Reader, _ layout: GraphLayout) -> [LinkArray?] {
        if followedCount.load(ordering: .relaxed) < followedCountMin { return [] }
        let made = arrays.withLock { $0 }
        if !made.isEmpty || isGathering.exchange(true, ordering: .acquiringAndReleasing) { return made }
        let new = steps.map { step in
            LinkArray.elementCount(step, reader).flatMap { $0 <= elementCountMax ? LinkArray(step, reader, layout) : nil }
        }
        arrays.withLock { $0 = new }
        return new
    }
}
