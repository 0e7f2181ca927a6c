import Cambium
import CambiumGraph
import CambiumJSON

/// A decoder that is fed with arbitrary bytes, and what has to hold whatever they are.
///
/// `run` returns where the bytes were refused with an error of a kind that the decoder names, and where they were read and all
/// that follows from them holds. It throws a `Finding`, or the error that nobody names, where that is not so; it never traps.
///
///     for target in FuzzTarget.all { try target.run([0, 1, 2]) }
public struct FuzzTarget: Sendable, CustomStringConvertible {
    public let name: String
    /// Decodes an input and checks what comes of it.
    public let run: @Sendable (_ input: [UInt8]) throws -> Void
    /// Inputs to begin with, made by the encoders themselves.
    public let seeds: @Sendable () throws -> [[UInt8]]

    /// One for each kind of bytes that comes from outside.
    public static let all = [
        FuzzTarget(name: "frames", run: FrameTarget.run, seeds: FrameTarget.seeds),
        FuzzTarget(name: "ops", run: OpTarget.run, seeds: OpTarget.seeds),
        FuzzTarget(name: "schema", run: SchemaTarget.run, seeds: SchemaTarget.seeds),
        FuzzTarget(name: "rows", run: RowTarget.run, seeds: RowTarget.seeds),
        FuzzTarget(name: "json", run: JSONTarget.run, seeds: JSONTarget.seeds),
        FuzzTarget(name: "model", run: ModelTarget.run, seeds: ModelTarget.seeds),
        FuzzTarget(name: "roots", run: RootTarget.run, seeds: RootTarget.seeds),
        FuzzTarget(name: "migration", run: MigrationTarget.run, seeds: MigrationTarget.seeds),
        FuzzTarget(name: "settings", run: SettingsTarget.run, seeds: SettingsTarget.seeds),
        FuzzTarget(name: "transactions", run: TransactionTarget.run, seeds: TransactionTarget.seeds),
        FuzzTarget(name: "columns", run: ColumnTarget.run, seeds: ColumnTarget.seeds),
        FuzzTarget(name: "pages", run: PageTarget.run, seeds: PageTarget.seeds),
    ]

    /// The target of a name; nil where there is none.
    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    public var description: String { name }
}

/// Something that must not be, in a sentence.
public struct Finding: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    /// Throws where a graph is not sound, with findings of `except` left out. Writes each object of it, which must not trap.
    static func check(_ graph: Graph, except isExpected: (String) -> Bool = { _ in false }) throws(Finding) {
        try check(graph.invariantFindings(), "the graph", except: isExpected)
        let objects = ObjectWriter(graph)
        var writer = JSONWriter()
        graph.forEachObject(of: nil) { place in
            objects.write(place, to: &writer)
            writer.removeAll()
        }
    }

    /// Throws where `findings` has any, with those of `except` left out.
    static func check(_ findings: [String], _ what: String, except isExpected: (String) -> Bool = { _ in false }) throws(Finding) {
        if let first = findings.first(where: { !isExpected($0) }) { throw Finding("\(what): \(first)") }
    }
}
