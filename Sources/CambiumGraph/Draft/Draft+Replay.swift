extension Draft {
    /// Begins the next transaction of a replay in the same draft. Nothing is checked, because the writer checked the contents of the log.
    package mutating func beginReplayed(_ number: UInt64) {
        transaction = number
        if !pending.isEmpty { pending = PendingChecks() }
        pending.isOff = true
    }
}
