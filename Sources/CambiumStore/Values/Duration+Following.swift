import CambiumModel

extension Duration {
    /// This duration as the time between two reads of a log, in microseconds. The result is at least a millisecond, because a thread that
    /// reads the log without a pause uses a whole core.
    package var microsecondsBetweenReads: Int64 { max(1000, microseconds) }
}
