extension LogPrefix {
    public init(_ root: CheckpointRecord) {
        self.init(transaction: root.transaction, time: root.time, position: root.logPosition)
    }
}
