import CambiumBytes
import Dispatch
import Testing

@Suite struct GuardedTests {
    @Test func `one thread at a time has the value`() {
        let guarded = Guarded((count: 0, holderCount: 0, isShared: false))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<20_000 {
                guarded.withLock { value in
                    value.holderCount += 1
                    if value.holderCount != 1 { value.isShared = true }
                    value.count += 1
                    value.holderCount -= 1
                }
            }
        }
        guarded.withLock { #expect($0.count == 160_000 && !$0.isShared) }
    }

    @Test func `a thrown error releases the value`() {
        struct Refused: Error {}
        let guarded = Guarded(1)
        #expect(throws: Refused.self) {
            try guarded.withLock { (value: inout sending Int) throws(Refused) in
                value = 2
                throw Refused()
            }
        }
        #expect(guarded.withLock { $0 } == 2)
    }
}
