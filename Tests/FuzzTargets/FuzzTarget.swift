import Cambium
import CambiumGraph
import CambiumJSON

/// A decoder that runs on arbitrary bytes, and the properties that must hold for all of them.
///
/// `run` returns if the decoder refuses the bytes with one of its declared errors, or if it reads them and all properties hold. Otherwise
/// it throws a `Finding` or an undeclared error. It never traps.
///
///     for target in FuzzTarget.all { try target.run([0, 1, 2]) }
package struct FuzzTarget: Sendable, CustomStringConvertible {
    package let name: String
    /// Decodes an input and checks the result.
    package let run: @Sendable (_ input: [UInt8]) throws -> Void
    /// The first inputs of the fuzzer, made by the encoders themselves.
    package let seeds: @Sendable () throws -> [[UInt8]]

    /// One target for each kind of bytes that a program reads from files or from a user.
    package static let all = [
        FuzzTarget(name: "frames", run: FrameTarget.run, seeds: FrameTarget.seeds),
        FuzzTarget(name: "ops", run: OpTarget.run, seeds: OpTarget.seeds),
        FuzzTarget(name: "schema", run: SchemaTarget.run, seeds: SchemaTarget.seeds),
        FuzzTarget(name: "rows", run: RowTarget.run, seeds: RowTarget.seeds),
        FuzzTarget(name: "json", run: JSONTarget.run, seeds: JSONTarget.seeds),
        FuzzTarget(name: "model", run: ModelTarget.run, seeds: ModelTarget.seeds),
        FuzzTarget(name: "roots", run: CheckpointTarget.run, seeds: CheckpointTarget.seeds),
        FuzzTarget(name: "migration", run: MigrationTarget.run, seeds: MigrationTarget.seeds),
        FuzzTarget(name: "settings", run: SettingsTarget.run, seeds: SettingsTarget.seeds),
        FuzzTarget(name: "transactions", run: TransactionTarget.run, seeds: TransactionTarget.seeds),
        FuzzTarget(name: "columns", run: ColumnTarget.run, seeds: ColumnTarget.seeds),
        FuzzTarget(name: "pages", run: PageTarget.run, seeds: PageTarget.seeds),
        FuzzTarget(name: "query", run: QueryTarget.run, seeds: QueryTarget.seeds),
        FuzzTarget(name: "proofs", run: ProofTarget.run, seeds: ProofTarget.seeds),
    ]

    /// Returns the target of a name, or `nil` if there is no such target.
    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    package var description: String { name }
}

/// A fault that a target found, as a sentence.
package struct Finding: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// Throws if the graph violates an invariant, unless `isExpected` accepts the finding. Also writes each object as JSON, which must not
    /// trap.
    static func check(_ graph: Graph, except isExpected: (String) -> Bool = { _ in false }) throws(Finding) {
        try check(graph.invariantFindings(), "the graph", except: isExpected)
        let objects = ObjectWriter(graph)
        var writer = JSONWriter()
        graph.forEachObject(of: nil) { place in
            objects.write(place, to: &writer)
            writer.removeAll()
        }
    }

    /// Throws the first of `findings` that `isExpected` does not accept.
    static func check(_ findings: [String], _ what: String, except isExpected: (String) -> Bool = { _ in false }) throws(Finding) {
        if let first = findings.first(where: { !isExpected($0) }) { throw Finding("\(what): \(first)") }
    }
}
