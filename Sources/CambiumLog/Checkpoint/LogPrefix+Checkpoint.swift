extension LogPrefix {
    package init(_ root: CheckpointRecord) {
        self.init(transaction: root.transaction, time: root.time, position: root.logPosition)
    }
}
