import Glibc

/// Measures Cambium and prints one line for each figure: `bench DATA WORK [--small] [STEP...]`.
///
/// Without steps, `bench` runs every step in a separate process, so that the peak memory of each step can be measured.
@main
struct Bench {
    static func main() {
        do {
            let arguments = try Arguments(CommandLine.arguments)
            if arguments.steps.isEmpty {
                for step in Step.allCases { try Subprocess.run(itself: arguments.command(for: step)) }
            } else {
                let bench = Settings(arguments)
                for step in arguments.steps { try step.run(bench) }
            }
        } catch {
            print("FATAL \(error)")
            fflush(nil)
            exit(2)
        }
    }
}

/// One part of the measurement. Later steps use the stores of earlier steps.
enum Step: String, CaseIterable {
    case `import`, importSmall, reads, opening, checkpoints, replay, smallTransactions, updates, memoryUpdates
    case changes, debian, clones, hubs, export, indexes, holds, walks, queries, live, records, creates, audit, auditImports, histories

    func run(_ settings: Settings) throws {
        switch self {
        case .import: try SynthImport(settings, settings.synth).run()
        case .importSmall: if !settings.isSmall { try SynthImport(settings, .small).run() }
        case .reads: try Reads(settings).run()
        case .opening: try Opening(settings).run()
        case .checkpoints: try Checkpoints(settings).run()
        case .replay: try Replay(settings).run()
        case .smallTransactions: try SmallTransactions(settings).run()
        case .updates: try Updates(settings).run()
        case .memoryUpdates: try MemoryUpdates(settings).run()
        case .changes: try GraphChanges(settings).run()
        case .debian: try Debian(settings).run()
        case .clones: try Clones(settings).run()
        case .hubs: try Hubs(settings).run()
        case .export: try Exports(settings).run()
        case .indexes: try OrderedIndexes(settings).run()
        case .holds: try Holds(settings).run()
        case .walks: try Walks(settings).run()
        case .queries: try Queries(settings).run()
        case .live: try LiveQueries(settings).run()
        case .records: try Records(settings).run()
        case .creates: try Creates(settings).run()
        case .audit: try Audit(settings).run()
        case .auditImports: try AuditImports(settings).run()
        case .histories: try Histories(settings).run()
        }
    }
}

struct Arguments {
    let data: String
    let work: String
    let isSmall: Bool
    let steps: [Step]

    init(_ arguments: [String]) throws {
        var names: [String] = []
        var isSmall = false
        for argument in arguments.dropFirst() {
            if argument == "--small" { isSmall = true } else { names.append(argument) }
        }
        guard names.count >= 2 else { throw Failure("usage: bench DATA WORK [--small] [STEP...]") }
        self.isSmall = isSmall
        data = names[0]
        work = names[1]
        steps = try names.dropFirst(2).map { name in
            guard let step = Step(rawValue: name) else {
                let known = Step.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure("'\(name)' is not a step; the steps are: \(known)")
            }
            return step
        }
    }

    func command(for step: Step) -> [String] {
        ["bench", data, work] + (isSmall ? ["--small"] : []) + [step.rawValue]
    }
}

/// The directories of the data and of the stores, and the size of the run.
struct Settings {
    let data: String
    let work: String
    let isSmall: Bool

    init(_ arguments: Arguments) {
        data = arguments.data
        work = arguments.work
        isSmall = arguments.isSmall
    }

    /// The subject of the figures. A small run has its own name, so that no reader mistakes it for a full run.
    var subject: String { isSmall ? "Cambium (small run)" : "Cambium" }
    var synth: SynthSize { isSmall ? .small : .large }

    func input(_ size: SynthSize) -> String { "\(data)/synth\(size.rawValue).jsonl" }
    func store(_ name: String) -> String { "\(work)/cambium-\(name)" }

    func emit(_ workload: String, _ value: Double, _ unit: String, variant: String = "") {
        let subject = variant.isEmpty ? subject : "\(subject) \(variant)"
        emit(workload, subject: subject, value, unit)
    }

    func emit(_ workload: String, subject: String, _ value: Double, _ unit: String) {
        print("R\t\(workload)\t\(subject)\t\(value)\t\(unit)")
        fflush(nil)
    }
}
