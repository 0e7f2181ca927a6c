import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog
@testable import CambiumStore

/// The ways in which a process ends, and the opening by the next process.
extension StoreRun {
    /// Ends the process by closing the store, by a crash or by a power failure, and begins the next process.
    mutating func reopen() throws {
        let isClosed = random.isTrue(1, outOf: 2)
        if isClosed {
            // After packing, held graphs have chunks to themselves.
            if random.isTrue(1, outOf: 2) { try pack() }
            if random.isTrue(1, outOf: 2) { try checkpoint() }
            try store.close()
            durableCount = moments.count
        }
        try die(isClosed: isClosed)
        if isClosed, !volume.isDead, store.recovery.notes != [] {
            throw Finding("a store that was closed opens with the notes \(store.recovery.notes)")
        }
    }

    mutating func die() throws { try die(isClosed: false) }

    private mutating func die(isClosed: Bool) throws {
        let losesPower = random.isTrue(1, outOf: 2)
        process?.abandon()
        // A process that died reads no more.
        if !isClosed { held.removeAll { $0.isOwn } }
        leases = []
        process = nil
        volume.recover()
        if losesPower { losePower() }
        clock.advance(random.isTrue(1, outOf: 4) ? -1000 : 10)
        if hasCrashes, random.isTrue(1, outOf: 6) {
            volume.crash(at: volume.operationCount + Int.random(in: 0..<12, using: &random))
            do { try open() } catch {
                guard volume.isDead, !(error is Finding) else { throw error }
                return try die()
            }
        } else {
            try open()
        }
    }

    private mutating func losePower() {
        volume = FaultyVolume(contents: volume.image(seed: random.next()))
        follower = nil
        past = EarlierGraphs(volume, viewCountMax: Int.random(in: 0...3, using: &random), byteCountMax: .max)
    }

    private mutating func open() throws {
        process = try Store.open(volume, durability: nil, environment: environment, tuning: tuning, memory: Self.memory(&random))
        let last = Int(store.graph.transaction.rawValue)
        guard (durableCount...moments.count + 1).contains(last) else {
            throw Finding("a process finds \(last) of \(moments.count) transactions, of which \(durableCount) are durable")
        }
        if last < moments.count {
            moments.removeLast(moments.count - last)
            reference = moments[last - 1].reference
            requests = requests.filter { $0.value.rawValue <= UInt64(last) }
        }
        program.adopt(reference.schema)
        if last > moments.count {
            try adoptLogged()
            if let pending { try Finding.check(difference(store.graph, pending), "the pending transaction") }
        }
        // Everything that an opening shows is durable.
        durableCount = moments.count
        try checkUnchanged("opening")
        try checkAll()
        guard random.isTrue(1, outOf: 4) else { return }
        let verification = try Verification(volume)
        if !verification.isSound { throw Finding("a store is not sound after recovery: \(verification.findings)") }
    }
}
