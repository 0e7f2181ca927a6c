/// When a commit may be acknowledged. There is no default that is weaker than `synced`.
public enum Durability: Hashable, Sendable {
    /// After the log was synced: survives the loss of power.
    case synced
    /// When the kernel has the bytes: survives the death of the process. The loss of power may take what was written within the last
    /// interval: a commit that finds the interval over syncs, and a timer syncs after it if no commit comes.
    case buffered(every: Duration)
    /// Never on disk: the store ends with the process.
    case memory

    /// Whether this is at least as strong as another level.
    func covers(_ other: Durability) -> Bool { strength >= other.strength }

    /// How long a commit may stay unsynced, in microseconds.
    var interval: Int64 { if case .buffered(let interval) = self { interval.microseconds } else { 0 } }

    private var strength: Int {
        switch self {
        case .synced: 2
        case .buffered: 1
        case .memory: 0
        }
    }
}
