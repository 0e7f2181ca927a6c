import Cambium
import CambiumBytes
import Testing

@testable import CambiumGraph
@testable import CambiumStore

/// The thresholds at which a write triggers background work.
@Suite struct UpkeepAlarmTests {
    private let budget = MemoryBudget(byteCount: 8 << 20)
    private let timeline: Timeline
    private let alarm = UpkeepAlarm()

    init() { timeline = Timeline(memory: budget, key: HashKey(secret: [UInt8](repeating: 7, count: 16))) }

    private func rings(_ byteCount: Int, at time: Int64 = 0) -> Bool { alarm.track(byteCount, replayWork: 0, at: time, timeline) }

    private func set(_ change: (inout UpkeepAlarm.Limits) -> Void) {
        var limits = UpkeepAlarm.Limits()
        change(&limits)
        alarm.set(limits)
    }

    @Test func `no write rings without limits, whatever its numbers are`() {
        budget.take(8 << 20)
        #expect(budget.isTight && !rings(.max - 1, at: .max - 1))
        #expect(alarm.loggedByteCount == .max - 1)
    }

    @Test func `a write rings when the log reaches its limit`() {
        set { $0.loggedByteCount = 1000 }
        #expect(!rings(999, at: .max - 1))
        #expect(rings(1000))
        #expect(rings(1001))
    }

    @Test func `a write rings when the work of all transactions reaches its limit`() {
        set { $0.replayWork = 1000 }
        #expect(!alarm.track(0, replayWork: 999, at: 0, timeline))
        #expect(alarm.track(0, replayWork: 1, at: 0, timeline) && alarm.replayWork == 1000)
    }

    @Test func `a shorter log rings when its time has come`() {
        set { ($0.oldByteCount, $0.oldTime) = (100, 5000) }
        #expect(!rings(99, at: 6000))
        #expect(!rings(100, at: 4999))
        #expect(rings(100, at: 5000))
    }

    @Test func `a shorter log rings when the clock is set back`() {
        set { ($0.oldByteCount, $0.oldBegin, $0.oldTime) = (100, 4000, 5000) }
        #expect(!rings(100, at: 4000))
        #expect(!rings(99, at: 3999))
        #expect(rings(100, at: 3999))
    }

    @Test func `many pages ring only while memory is short`() {
        set { $0.heapByteCount = timeline.reservedByteCount - 1 }
        #expect(!rings(0))
        budget.take(8 << 20)
        #expect(rings(0))
        set { $0.heapByteCount = timeline.reservedByteCount }
        #expect(!rings(0))
    }

    @Test func `the answer gets the numbers of the write that rings`() {
        let reading = UpkeepAlarm.Reading(timeline, at: 42)
        alarm.ring(reading)
        let heard = Guarded<UpkeepAlarm.Reading?>(nil)
        alarm.onRing { reading in heard.withLock { $0 = reading } }
        #expect(heard.withLock { $0?.time } == nil)
        alarm.ring(reading)
        #expect(heard.withLock { $0?.time } == 42)
        #expect(heard.withLock { $0?.heapByteCount } == timeline.reservedByteCount)
    }
}
