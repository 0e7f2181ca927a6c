extension Draft {
    /// Begins the next transaction of a replay in the same draft: what the log holds was checked when it was written.
    package mutating func beginReplayed(_ number: UInt64) {
        transaction = number
        if !pending.isEmpty { pending = PendingChecks() }
        pending.isOff = true
    }
}
