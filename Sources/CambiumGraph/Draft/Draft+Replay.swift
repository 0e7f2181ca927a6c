extension Draft {
    /// Begins the next transaction of a replay in the same draft. No rule is checked, because the writer has checked each transaction
    /// before it wrote the log.
    package mutating func beginReplayed(_ number: UInt64) {
        transaction = number
        if !pending.isEmpty { pending = PendingChecks() }
        pending.isOff = true
    }
}
