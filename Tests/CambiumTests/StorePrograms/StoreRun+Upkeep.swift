import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog

/// Operations that change nothing visible except the set of moments that can still be read.
extension StoreRun {
    mutating func checkpoint() throws {
        let receipt = try store.checkpoint()
        if receipt.transaction.rawValue != UInt64(moments.count) {
            throw Finding("the checkpoint is of transaction \(receipt.transaction) instead of \(moments.count)")
        }
        durableCount = moments.count
        try checkUnchanged("a checkpoint")
    }

    mutating func setPolicy() throws {
        let policy = CheckpointPolicy(
            countMax: Int.random(in: 1...6, using: &random), historyPercent: random.pick([0, 100, 100_000]) ?? 100,
            compression: random.isTrue(1, outOf: 2) ? .lz4 : .none)
        try store.setCheckpointPolicy(policy)
        try checkUnchanged("a policy")
    }

    /// Packs all pages, however little that gains.
    mutating func pack() throws {
        var limits = PackingLimits()
        (limits.sparseness, limits.groupCountMin) = (1, 2)
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (0, 0, 100)
        _ = try store.upkeep.pack(limits, stepCountMax: 10)
        try checkAll()
    }

    // MARK: Compaction

    mutating func compact() throws {
        let retention: Retention =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .all
            case 1: .checkpoints(Int.random(in: 0...4, using: &random))
            default: .since(point())
            }
        if random.isTrue(1, outOf: 4) { try compactDry(retention) }
        // If the process dies during the compaction, any moment may be retired or not.
        let before = firstCertain
        firstCertain = .max
        let found: Compaction
        do {
            found = try store.compact(retention)
        } catch let error as CambiumError where error.code == .invalidInput || error.code == .notFound {
            firstCertain = before
            try adoptLogged()
            try checkRefusal(of: retention, error)
            return try checkUnchanged("a compaction that was refused")
        }
        try adoptLogged()
        durableCount = moments.count
        try checkUnchanged("a compaction")
        try note(found, retention, before)
    }

    private mutating func compactDry(_ retention: Retention) throws {
        let before = volume.contents
        do { _ = try store.compact(retention, effect: .preview) } catch let error as CambiumError where !volume.isDead {
            guard error.code == .invalidInput || error.code == .notFound else { throw error }
        }
        if !volume.isDead, volume.contents != before {
            throw Finding("a dry run wrote something")
        }
    }

    private func checkRefusal(of retention: Retention, _ error: CambiumError) throws {
        switch retention {
        case .checkpoints(0): return
        // The moment does not exist, or it was retired.
        case .since(.time(let time)): if time.microsecondsSince1970 > moments.last?.time ?? 0 { return }
        case .since(let point): if number(of: point) ?? 0 < firstCertain { return }
        default: break
        }
        throw Finding("a compaction that keeps \(retention) was refused: \(error)")
    }

    /// Records which moments were retired, and throws if one of them was to be kept.
    private mutating func note(_ found: Compaction, _ retention: Retention, _ before: Int) throws {
        let (kept, end) = (Int(found.firstMoment.rawValue), Int(found.retiredEnd.rawValue))
        let limit =
            switch retention {
            case .all: before
            case .since(let point): max(number(of: point) ?? 1, before)
            case .checkpoints: moments.count
            }
        let isTooFew = retention == .checkpoints(1) && kept < moments.count
        if kept < first || kept > min(limit, moments.count) || end > kept || isTooFew {
            let history = "with \(moments.count) transactions, kept since \(first)"
            throw Finding("a compaction that keeps \(retention) resulted in \(found), \(history)")
        }
        (first, firstCertain) = (kept, kept)
    }

    // MARK: Leases

    mutating func useLeases() throws {
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
            guard let moment = moments.last else { return }
            let seconds = random.isTrue(1, outOf: 3) ? nil : Int64.random(in: 0...20, using: &random)
            let end = seconds.map { clock.time + $0 * 1_000_000 } ?? .max
            leases.append((store.lease(for: seconds.map { .seconds($0) }), moment, clock.time, end))
        case 2:
            clock.advance(Int64.random(in: 1...10, using: &random))
        default:
            let age = Int64.random(in: 0...8, using: &random)
            let isOld = leases.map { $0.beginTime <= clock.time - age * 1_000_000 }
            for index in leases.indices where isOld[index] { leases[index].endTime = .min }
            store.expireLeases(olderThan: .seconds(age))
        }
        for (lease, moment, _, endTime) in leases {
            var graph: Graph?
            do { try lease.read { graph = $0 } } catch let error as CambiumError where error.code == .expired {}
            if (graph == nil) != (endTime <= clock.time) {
                throw Finding("a lease \(graph == nil ? "expired too early" : "did not expire")")
            }
            if let graph { try check(graph, moment, "a lease") }
        }
        leases.removeAll { $0.endTime <= clock.time || random.isTrue(1, outOf: 6) }
    }
}
