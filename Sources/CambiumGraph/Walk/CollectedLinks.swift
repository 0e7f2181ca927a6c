import Synchronization

/// The arrays with the links of a walk. Walks are faster with the arrays, but making the arrays takes time.
///
/// The arrays are made only after walks have followed many links without the arrays. So making the arrays takes at most a constant multiple
/// of the time of the earlier walks.
final class CollectedLinks: Sendable {
    /// The number of links that walks must follow before the arrays are made; `Int.max` if no step needs an array.
    private let followedCountMin: Int
    private let followedCount = Atomic<Int>(0)
    private let isCollecting = Atomic<Bool>(false)
    private let arrays = Mutex<[LinkArray?]>([])
    /// The maximum number of elements for one step.
    private let elementCountMax: Int

    /// The arrays are made after walks have followed 1/4 as many links as the arrays have elements.
    private static let followedPart = 4

    init(_ steps: [WalkStep], _ reader: Reader, elementCountMax: Int = LinkArray.elementCountMax) {
        self.elementCountMax = elementCountMax
        let counts = steps.compactMap { LinkArray.elementCount($0, reader) }.filter { $0 <= elementCountMax }
        followedCountMin = counts.isEmpty ? .max : counts.reduce(0, +) / Self.followedPart
    }

    /// Adds to the number of links that walks have followed without the arrays.
    func track(followedCount count: Int) { followedCount.add(count, ordering: .relaxed) }

    /// Returns an array for each step that has one, or an empty list if the arrays do not exist yet. The first call after walks have
    /// followed enough links makes the arrays. Until the arrays exist, calls on other threads return an empty list.
    func current(_ steps: [WalkStep], _ reader: Reader, _ layout: GraphLayout) -> [LinkArray?] {
        if followedCount.load(ordering: .relaxed) < followedCountMin { return [] }
        let made = arrays.withLock { $0 }
        if !made.isEmpty || isCollecting.exchange(true, ordering: .acquiringAndReleasing) { return made }
        let new = steps.map { step in
            LinkArray.elementCount(step, reader).flatMap { $0 <= elementCountMax ? LinkArray(step, reader, layout) : nil }
        }
        arrays.withLock { $0 = new }
        return new
    }
}
