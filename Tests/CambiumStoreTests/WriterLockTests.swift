import Cambium
import Synchronization
import Testing

@testable import CambiumStore

@Suite struct WriterLockTests {
    /// Works for a few milliseconds, which is long compared with the time between two calls of `hold`.
    private static func work() -> Int { (0..<100_000).reduce(0) { $0 &+ $1 } }

    @Test func `a thread gets the lock although another thread takes it again and again`() {
        let lock = WriterLock()
        let threads = TwoThreads()
        let errors = threads.run(
            {
                while threads.count.load(ordering: .relaxed) == 0 {}
                for _ in 0..<10 { lock.hold {} }
                threads.isDone.store(true, ordering: .relaxed)
            },
            {
                // This thread takes the lock again before the other thread has woken.
                while !threads.isDone.load(ordering: .relaxed), threads.count.load(ordering: .relaxed) < 2000 {
                    lock.hold { _ = Self.work() }
                    threads.count.add(1, ordering: .relaxed)
                }
            })
        #expect(errors == [] && threads.count.load(ordering: .relaxed) < 2000)
    }
}
