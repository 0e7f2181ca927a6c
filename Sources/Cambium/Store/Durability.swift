/// When a commit may be acknowledged. There is no default that is weaker than `synced`.
public enum Durability: Hashable, Sendable {
    /// After the log was synced: survives the loss of power.
    case synced
    /// When the log is in the kernel's hands: survives the death of the process; the loss of power may take what was written
    /// since the last sync, which happens at least this often while there are commits.
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
