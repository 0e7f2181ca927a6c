package import CambiumGraph
package import CambiumModel

/// A fault of the engine that a run of random changes has found.
package struct Finding: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    package static func check(_ found: String?, _ what: String, _ ops: [Op] = []) throws {
        if let found { throw Finding("\(what): \(found)\(ops.isEmpty ? "" : ", " + shown(ops))") }
    }

    package static func check(_ findings: [String], _ what: String, _ ops: [Op] = []) throws { try check(findings.first, what, ops) }
}

/// Returns the text of a list of ops. The text of each op has at most 600 characters.
package func shown(_ ops: [Op]) -> String { "after " + ops.map { String("\($0)".prefix(600)) }.joined(separator: "; ") }

/// Completes an op with the parts that only the engine can compute, such as the hash of a clone.
package func completed(_ op: Op, _ draft: borrowing Draft) throws(CambiumError) -> Op {
    if case .clone(let clone) = op { .clone(try completed(clone, draft)) } else { op }
}

package func completed(_ op: CloneOp, _ draft: borrowing Draft) throws(CambiumError) -> CloneOp {
    try CloneWriter.plan(draft, op.roots, op.options).op(time: op.time ?? Timestamp(microsecondsSince1970: 1)) {
        op.seed ?? CloneSeed(low: 1, high: 2)
    }
}
