import CambiumBytes
import Foundation
import Synchronization
import TestFixtures

/// Two dedicated threads. The threads of a pool may be busy with other tests, and one of these two threads waits for the other.
final class TwoThreads: Sendable {
    let isDone = Atomic(false)
    /// A counter that the two threads share.
    let count = Atomic(0)
    private let errors = Guarded<[String]>([])

    /// Runs both closures, and returns when both have ended. If one of them throws, `isDone` reports this to the other one.
    ///
    /// - Returns: The errors that the closures threw.
    func run(_ first: @escaping @Sendable () throws -> Void, _ second: @escaping @Sendable () throws -> Void) -> [String] {
        let ended = DispatchSemaphore(value: 0)
        for body in [first, second] {
            let thread = Thread { [self] in
                do { try body() } catch {
                    errors.withLock { $0.append("\(error)") }
                    isDone.store(true, ordering: .releasing)
                }
                ended.signal()
            }
            thread.start()
        }
        for _ in 0..<2 { ended.wait() }
        return errors.withLock { $0 }
    }
}
