import Cambium

/// Imports the generated data into an empty store, and then once more.
struct SynthImport {
    private let settings: Settings
    private let size: SynthSize
    private var input: String { settings.input(size) }
    private var path: String { settings.store("synth\(size.rawValue)") }

    init(_ settings: Settings, _ size: SynthSize) {
        self.settings = settings
        self.size = size
    }

    func run() throws {
        try Tree(path).remove()
        try File.warm(input)
        let definition = try SynthSchema()
        let writtenBefore = try Process.writtenByteCount()
        let (seconds, (store, report)) = try timed {
            let store = try Store.create(at: path, schema: definition.schema)
            return (store, try definition.import(input, into: store))
        }
        let peak = Process.peakMegabytes()
        let written = try Process.writtenByteCount() - writtenBefore
        let stored = try SynthSchema(store.schema)
        try check(report.rowCount, is: size.objectCount, "rows")
        try stored.validate(store.graph, size)
        let workload = "C1.import synth \(size.rawValue)"
        settings.emit(workload, Double(size.objectCount) / seconds, "objects/s")
        settings.emit("\(workload) |written", written / 1e6, "MB")
        settings.emit("\(workload) |peak RSS", peak, "MB")
        settings.emit("\(workload) |log", Double(report.logByteCount) / 1e6, "MB")
        try importAgain(stored, store)
        try store.close()
        settings.emit("\(workload) |disk", try Tree(path).megabytes(), "MB")
    }

    private func importAgain(_ definition: SynthSchema, _ store: Store) throws {
        let before = store.graph.transaction
        let (seconds, report) = try timed { try definition.import(input, into: store) }
        try report.checkUnchanged()
        let unchanged = report.entities.values.reduce(0) { $0 + $1.unchanged }
        try check(unchanged, is: size.objectCount, "unchanged objects")
        try check(store.graph.transaction, is: before, "the last transaction")
        try check(store.graph.objectCount, is: size.objectCount, "objects after the second import")
        let workload = "C2.reimport unchanged synth \(size.rawValue)"
        settings.emit(workload, Double(size.objectCount) / seconds, "objects/s")
        settings.emit("\(workload) |peak RSS", Process.peakMegabytes(), "MB")
    }
}

extension ImportReport {
    /// Throws if the import changed or wrote anything.
    func checkUnchanged() throws {
        try check(logByteCount, is: 0, "bytes written by an import that changes nothing")
        try check(transaction == nil, "an import that changes nothing writes no transaction")
        for (name, counts) in entities {
            try check(counts.inserted + counts.updated + counts.deleted + counts.stubs, is: 0, "changed objects of \(name)")
        }
    }
}
