/// The degree of durability that a transaction must reach before its commit is acknowledged. No default is weaker than `synced`.
///
/// ```swift
/// let store = try Store.open(at: "orders", creating: schema, durability: .buffered(every: .seconds(1)))
/// try store.write(durability: .synced) { _ = try $0.insert("Order", ["number": 1]) }
/// ```
public enum Durability: Hashable, Sendable {
    /// The log was synced: the commit survives a power failure.
    case synced
    /// The kernel has the bytes: the commit survives the death of the process. A power failure may destroy the writes since the last sync.
    /// A commit syncs if the time `every` has passed since the last sync. If no commit arrives, a timer syncs. Closing or releasing the
    /// store syncs, too.
    case buffered(every: Duration)
    /// Nothing is on disk: the store ends with the process.
    case memory

    /// Whether this level is at least as strong as another level.
    func covers(_ other: Durability) -> Bool {
        strength == other.strength ? interval <= other.interval : strength > other.strength
    }

    /// The maximum time that a commit may stay unsynced, in microseconds.
    var interval: Int64 { if case .buffered(let interval) = self { interval.microseconds } else { 0 } }

    private var strength: Int {
        switch self {
        case .synced: 2
        case .buffered: 1
        case .memory: 0
        }
    }
}
