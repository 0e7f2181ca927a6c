import CambiumBytes
import Foundation
import Synchronization

/// Two threads of their own: those of a pool may be busy with other tests, and one of these waits for the other.
final class TwoThreads: Sendable {
    let isDone = Atomic(false)
    /// What the threads count.
    let count = Atomic(0)
    private let errors = Guarded<[String]>([])

    /// Runs both, and returns when both have ended. If one of them throws, the other one is told by `isDone`.
    ///
    /// - Returns: what they threw.
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
