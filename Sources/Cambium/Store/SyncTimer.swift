import Dispatch

/// Runs an action once after a time, on some thread. A store has one for the syncs that `Durability.buffered(every:)` promises.
package protocol SyncTimer: Sendable {
    /// Runs the action after `delay`, in place of the run that was due before.
    func start(after delay: Duration)
    /// Forgets the run that is due. One that has begun goes on.
    func cancel()
}

/// A timer of the system. It keeps no thread while nothing is due, and ends with its last reference.
///
/// SENDABLE: a dispatch source may be used by any thread.
final class DispatchSyncTimer: SyncTimer, @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(_ action: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "cambium.store.timer"))
        source.setEventHandler(handler: action)
        source.activate()
    }

    deinit { source.cancel() }

    func start(after delay: Duration) { source.schedule(deadline: .now() + .microseconds(Int(clamping: delay.microseconds))) }

    func cancel() { source.schedule(deadline: .distantFuture) }
}
