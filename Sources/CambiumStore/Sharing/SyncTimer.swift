import Dispatch

/// Runs an action once after a delay, on an arbitrary thread. A store has one timer, for the syncs that `Durability.buffered(every:)`
/// promises.
package protocol SyncTimer: Sendable {
    /// Runs the action after `delay`, instead of the previously scheduled run.
    func start(after delay: Duration)
    /// Cancels the scheduled run. A run that has begun continues.
    func cancel()
}

/// A timer that is built on Dispatch. It uses no thread while nothing is scheduled. Releasing the last reference to the timer cancels the
/// scheduled run.
///
/// SENDABLE: any thread may use a dispatch source.
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
