import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog

/// A random program for a store: transactions of every kind, migrations, all other operations, and processes that end in every way. The run
/// records the state after each transaction, which every later view of that moment must show.
struct StoreRun {
    /// The state after a transaction.
    struct Moment {
        let reference: ReferenceGraph
        let labels: [String: TransactionNumber]
        let time: Int64
        var digest: GraphDigest
    }

    var random: SplitMix64
    var program: RandomProgram
    let clock = StillClock()
    let environment: StoreEnvironment
    /// Whether processes die in the middle of their work.
    private(set) var hasCrashes: Bool
    var tuning: LogTuning
    var volume = FaultyVolume()
    /// The open store, or `nil` while no process has the store open.
    var process: Store?
    /// The earlier graphs as another process reads them, without notice of the store's changes.
    var past: EarlierGraphs
    var reference: ReferenceGraph
    /// The moments after all transactions, beginning with the first one.
    var moments: [Moment] = []
    /// The number of moments that survive a power failure.
    var durableCount = 1
    /// The result of a transaction that was begun, but whose outcome was not reported before the process died.
    var pending: ReferenceGraph?
    /// The first moment that may still be kept. All earlier ones were retired.
    var first = 1
    /// The first moment that is certainly kept. After an interrupted compaction, the moments from `first` to the one before it may be
    /// retired.
    var firstCertain = 1
    var requests: [String: TransactionNumber] = [:]
    var requestCount = 0
    /// Views of earlier moments. Each must stay the same as long as the process that holds it exists.
    var held: [(graph: Graph, moment: Moment, isOwn: Bool)] = []
    /// A follower in another process, or `nil` if no process follows.
    var follower: StoreFollower?
    var leases: [(lease: GraphLease, moment: Moment, beginTime: Int64, endTime: Int64)] = []
    /// The number of earlier moments that were shown.
    var shownCount = 0
    /// The number of retired moments that were refused.
    var refusedCount = 0

    init(seed: UInt64, hasCrashes: Bool) throws {
        random = SplitMix64(seed: seed)
        self.hasCrashes = hasCrashes
        let made = try RandomSchema.make(&random)
        let schema = seed % 3 == 0 ? try RandomSchema.addingOrphanRules(to: made, &random) : made
        program = RandomProgram(
            schema: schema, seed: random.next(), scope: random.pick([.everything, .clones, .migrations]) ?? .everything)
        reference = ReferenceGraph(schema: schema)
        environment = clock.environment(seed: seed)
        tuning = random.isTrue(2, outOf: 3) ? .tiny : .standard
        // The seed must determine everything that happens.
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
        tuning.mergedByteCountMax = random.pick([0, 900, 4_000, tuning.mergedByteCountMax, 1 << 20]) ?? 0
        tuning.newestCheckpointCount = Int.random(in: 1...2, using: &random)
        tuning.recordedTableByteCountMax = seed % 2 == 0 ? 0 : 4096
        tuning.touchedTransactionCountMin = random.pick([1, 4, 4096]) ?? 1
        tuning.jointByteCount = [1, 150, 1 << 16][Int(seed / 3 % 3)]
        tuning.touchPartCountMax = random.pick([3, 40, 1 << 21]) ?? 3
        tuning.tablePartByteCountMax = [64, 1000, 65_536][Int(seed % 3)]
        let durability: Durability = random.isTrue(2, outOf: 3) ? .synced : .buffered(every: .seconds(36_000_000))
        process = try Store.create(
            volume, schema: schema, durability: durability, environment: environment, tuning: tuning, memory: Self.memory(&random))
        past = EarlierGraphs(volume, viewCountMax: Int.random(in: 0...3, using: &random), byteCountMax: .max)
        try note(reference, store.graph.labels)
        // If a store was never synced, the next process creates it again. This read makes the store durable.
        _ = try past.graph(at: Point.latest)
    }

    var store: Store {
        guard let process else { preconditionFailure("The store is used while no process has it open.") }
        return process
    }

    static func memory(_ random: inout SplitMix64) -> MemoryBudget {
        random.pick([MemoryBudget(byteCount: 0), MemoryBudget(byteCount: 1 << 18), .standard]) ?? .standard
    }

    mutating func run() throws {
        for number in 1...Int.random(in: 30...90, using: &random) {
            if hasCrashes, !volume.isDead, random.isTrue(1, outOf: 6) {
                volume.crash(at: volume.operationCount + Int.random(in: 0..<(random.pick([4, 20, 80]) ?? 20), using: &random))
            }
            pending = nil
            let kind = Int.random(in: 0..<100, using: &random)
            do { try step(kind) } catch let finding as Finding {
                throw Finding("step \(number) of kind \(kind): \(finding)")
            } catch {
                guard volume.isDead else { throw Finding("step \(number) of kind \(kind) threw \(error)") }
                do { try die() } catch { throw Finding("after the crash in step \(number) of kind \(kind): \(error)") }
            }
        }
        try end()
    }

    private mutating func step(_ kind: Int) throws {
        switch kind {
        case 0..<36: try transact()
        case 36..<42: try migrate()
        case 42..<45: try importRows()
        case 45..<48: try label()
        case 48: try recordDigest()
        case 49..<52: try checkpoint()
        case 52..<55: try undo()
        case 55..<57: try setPolicy()
        case 57..<61: try compact()
        case 61..<64: try pack()
        case 64..<67: try useLeases()
        case 67..<72: try reopen()
        case 72: try checkAll()
        case 73..<77: try hold(store.graph, isOwn: true)
        case 77..<81: try follow()
        default: try view(point())
        }
    }

    /// Reads moments of the whole run, and verifies the store.
    private mutating func end() throws {
        hasCrashes = false
        if volume.isDead { try die() }
        volume.recover()
        for number in (1...moments.count).shuffled(using: &random).prefix(20) {
            try view(.transaction(TransactionNumber(rawValue: UInt64(number))))
        }
        try checkAll()
        try checkAudit()
        try reopen()
        try checkAudit()
        let verification = try Verification(volume)
        guard verification.isSound, verification.digest == moments.last?.digest else {
            throw Finding("the store is not sound: \(verification.findings)")
        }
        try checkAll()
    }

    // MARK: Checks

    /// Records the state after the newest transaction, and compares the store with it.
    mutating func note(_ after: ReferenceGraph, _ labels: [String: TransactionNumber], at time: Int64? = nil) throws {
        var after = after
        after.commit()
        let graph = store.graph
        let time = time ?? max(clock.time, moments.last?.time ?? 0)
        let moment = Moment(reference: after, labels: labels, time: time, digest: graph.digest())
        moments.append(moment)
        reference = after
        program.adopt(after.schema)
        if graph.transaction.rawValue != UInt64(moments.count) {
            throw Finding("the store is at transaction \(graph.transaction) after \(moments.count) transactions")
        }
        try check(graph, moment, "the newest graph")
        if isSynced { durableCount = moments.count }
    }

    var isSynced: Bool { store.durability == .synced }

    func check(_ graph: Graph, _ moment: Moment, _ what: String) throws {
        if graph.schema.catalog != moment.reference.schema.catalog { throw Finding("\(what) has another schema") }
        if graph.labels != moment.labels { throw Finding("\(what) has the labels \(graph.labels) instead of \(moment.labels)") }
        try Finding.check(difference(graph, moment.reference), what)
        if graph.digest() != moment.digest { throw Finding("\(what) has another digest") }
    }

    /// Throws if a call changed the store, or if it left a trace of its attempt.
    mutating func checkUnchanged(_ what: String) throws {
        program.adopt(reference.schema)
        guard let last = moments.last, store.graph.transaction.rawValue == UInt64(moments.count) else {
            throw Finding("\(what) left transaction \(store.graph.transaction) instead of \(moments.count)")
        }
        if store.graph.digest() != last.digest { throw Finding("\(what) changed the digest") }
    }

    mutating func checkAll() throws {
        for (graph, moment, _) in held { try check(graph, moment, "an earlier view") }
        guard let last = moments.last else { return }
        let store = store
        try check(store.graph, last, "the newest graph")
        try Finding.check(store.graph.invariantFindings(), "invariants")
        try Finding.check(store.pageFindings, "pages")
    }
}
