import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

extension CompactionTests {
    @Test func `moments before the kept ones are reported as missing, and later ones are shown`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 20)
        try store.checkpoint()
        for number in 20..<40 { try add(store, number) }
        let compaction = try store.compact(.since(.transaction(TransactionNumber(rawValue: 30))))
        #expect(compaction.retiredEnd.rawValue == 21 && compaction.firstMoment.rawValue == 21)
        #expect(code { _ = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 20))) } == .notFound)
        for number: UInt64 in [21, 22, 30, 41] {
            let graph = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: number))).graph
            #expect(graph.objectCount == Int(number) - 1)
        }
        #expect(try Verification(volume).isSound)
    }

    @Test func `the checkpoint that replaces the retired log is never dropped`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.checkpoint()
        for number in 10..<20 { try add(store, number) }
        try store.compact(.since(.transaction(TransactionNumber(rawValue: 15))))
        for round in 0..<5 {
            for number in 0..<5 { try add(store, 100 + round * 10 + number) }
            try store.checkpoint()
        }
        #expect(try CheckpointRecord.list(volume).contains(TransactionNumber(rawValue: 11)))
        let graph = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 16))).graph
        #expect(graph.objectCount == 15)
        try store.close()
        #expect(try reopen(volume).graph.export == store.graph.export)
    }

    @Test func `an older checkpoint that a reader uses shows no moment and is dropped when the reader ends`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.checkpoint()
        do {
            let reader = try ReadOnlyStore(volume)
            for number in 10..<20 { try add(store, number) }
            #expect(try store.compact(.since(.latest)).firstMoment.rawValue == 21)
            #expect(try CheckpointRecord.list(volume).map(\.rawValue) == [21, 11] && reader.graph.objectCount == 10)
            for retention in [Retention.all, .checkpoints(9), .since(.time(Timestamp(microsecondsSince1970: 0)))] {
                let compaction = try store.compact(retention)
                #expect(compaction.retiredEnd.rawValue == 21 && compaction.firstMoment.rawValue == 21, "\(retention)")
            }
        }
        try add(store, 20)
        try store.checkpoint()
        #expect(try CheckpointRecord.list(volume).map(\.rawValue) == [22, 21])
    }

    @Test func `a dry run changes nothing and reports what a run would do`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        try store.checkpoint()
        let before = volume.contents
        let planned = try store.compact(.checkpoints(1), effect: .preview)
        #expect(volume.contents == before)
        let done = try store.compact(.checkpoints(1))
        #expect(planned.retiredEnd == done.retiredEnd && planned.segmentCount == done.segmentCount && done.segmentCount > 0)
        #expect(try store.compact(.checkpoints(1)).segmentCount == 0)
        #expect(try store.compact(.all).segmentCount == 0)
        // Segments that were retired before are not reported again.
        for number in 50..<60 { try add(store, number) }
        try store.checkpoint()
        let newest = Retention.since(.transaction(store.graph.transaction))
        let dryAgain = try store.compact(newest, effect: .preview)
        let doneAgain = try store.compact(newest)
        #expect(
            dryAgain.segmentCount == doneAgain.segmentCount && doneAgain.segmentCount > 0 && doneAgain.segmentCount < done.segmentCount)
        #expect(dryAgain.retiredEnd == doneAgain.retiredEnd)
    }

    @Test(arguments: [false, true])
    func `a compaction to a moment that does not exist writes nothing`(isDryRun: Bool) throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        let newest = try #require(try times(volume).last)
        let before = volume.contents
        let later = [Timestamp.max, newest + .microseconds(1), Timestamp(microsecondsSince1970: newest.microsecondsSince1970 * 1000)]
        let points = later.map { Point.time($0) } + [.transaction(store.graph.transaction.next), .label("none")]
        for point in points {
            #expect(code { try store.compact(.since(point), effect: isDryRun ? .preview : .retire) } == .notFound, "\(point)")
        }
        #expect(code { try store.compact(.checkpoints(0), effect: isDryRun ? .preview : .retire) } == .invalidInput)
        #expect(volume.contents == before)
        #expect(try store.compact(.since(.time(newest)), effect: isDryRun ? .preview : .retire).firstMoment.rawValue == (isDryRun ? 1 : 11))
    }

    @Test func `a compaction that keeps more checkpoints than there are retires nothing`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 20)
        for _ in 0..<2 {
            #expect(try store.compact(.checkpoints(3)).retiredEnd == .none)
            try add(store, Int(store.graph.transaction.rawValue))
        }
        // The compaction itself makes the third checkpoint.
        #expect(try store.compact(.checkpoints(3)).retiredEnd.rawValue == 21)
    }

    private func times(_ volume: any Volume) throws -> [Timestamp] {
        var times: [Timestamp] = []
        try TransactionLog(volume).forEach { times.append($0.metadata.time) }
        return times
    }
}
