import Cambium
import CambiumJSON

/// The output for a change to the schema, or for the preview of such a change.
struct MigrationText {
    private let report: MigrationReport
    private let isDone: Bool

    init(_ report: MigrationReport, isDone: Bool) {
        self.report = report
        self.isDone = isDone
    }

    /// The maximum number of violations in the output for people.
    private static let shownViolationCountMax = 20

    func print(json: Bool) {
        if json { return Terminal.printJSON(report.write) }
        let count = Readable.of(report.entries.count, "change")
        if report.isEmpty {
            // A request is stored with its outcome even if it changes nothing.
            let outcome = report.transaction.map { "transaction \($0) records the request" } ?? "nothing was written"
            return Terminal.print("The store has this schema already; \(outcome).")
        } else if let transaction = report.transaction {
            Terminal.print("\(count) in transaction \(transaction), \(Readable.of(report.logByteCount, "byte")) of log")
        } else if report.isRefused {
            Terminal.print("\(count); the store would refuse this schema, and nothing was written")
        } else {
            Terminal.print("\(count) would be made; nothing was written")
        }
        let width = report.entries.map(\.change.subject.columnCount).max() ?? 0
        for entry in report.entries { Terminal.print("  \(entry.change.subject.padded(to: width))  \(line(entry))") }
        if report.entries.contains(where: { $0.handling == .refused }) {
            Terminal.print("Objects were not checked against the new rules, because a change above needs a program.")
        }
        for violation in report.violations.prefix(Self.shownViolationCountMax) { Terminal.print("- \(violation)") }
        let rest = report.violations.count - Self.shownViolationCountMax
        if rest > 0 { Terminal.print("- and \(Readable.count(rest)) more") }
        if let hold = report.expectedHold, !report.isRefused {
            Terminal.print("Other transactions would wait for about \(Readable.count(hold.wholeMilliseconds)) ms; readers would not.")
        }
    }

    private func line(_ entry: MigrationReport.Entry) -> String {
        let change = entry.change
        var text = Self.line(change)
        if entry.handling == .refused { text += " NEEDS A PROGRAM: \(change.reason ?? "")" }
        if entry.objectCount > 0 { text += ", \(affected(entry))" }
        if entry.lostCount > 0 {
            text += ": \(lost(entry)) \(isDone ? "lost" : "would be lost")"
        }
        return text
    }

    private func lost(_ entry: MigrationReport.Entry) -> String {
        switch entry.lostKind {
        case .objects: Readable.of(entry.lostCount, "object")
        case .values: Readable.of(entry.lostCount, "value")
        case .links: Readable.of(entry.lostCount, "link")
        case .valuesAndLinks: entry.lostCount == 1 ? "1 value or link" : "\(Readable.count(entry.lostCount)) values and links"
        }
    }

    /// Returns a description of a change, without the objects that it affects.
    static func line(_ change: SchemaChange) -> String {
        switch change.kind {
        case .added: "added" + (change.after.map { ", \($0)" } ?? "")
        case .removed: "removed" + (change.before.map { ", was \($0)" } ?? "")
        case .renamed: "renamed, was \(change.before ?? "")"
        case .moved: "moved from \(change.before ?? "") to \(change.after ?? "")"
        case .replaced: change.property == nil ? "moved to another hierarchy" : pair(change.before, change.after)
        case .changed: changed(change)
        }
    }

    private static func changed(_ change: SchemaChange) -> String {
        let aspect = change.aspect ?? ""
        switch (aspect, change.before, change.after) {
        case ("order", _, _): return change.reordered.map(order).joined(separator: ", ")
        case ("optional", nil, _): return "optional"
        case ("optional", _, nil): return "mandatory"
        // The default of a Boolean attribute may be `true`. Such a default is a value, and not a flag that the attribute has or lacks.
        case ("default", _, _): return "default \(pair(change.before, change.after))"
        case (_, let before, "true"?) where before == nil: return aspect
        case (_, "true"?, nil): return "not \(aspect)"
        default: return "\(aspect) \(pair(change.before, change.after))"
        }
    }

    private static func order(_ declarations: SchemaChange.Declarations) -> String {
        switch declarations {
        case .entities: "declared at another place among the entities"
        case .attributes: "attributes in another order"
        case .relationships: "relationships in another order"
        }
    }

    private static func pair(_ before: String?, _ after: String?) -> String { "\(plain(before)) -> \(plain(after))" }

    /// The output for a value that is absent.
    private static let absent = "none"

    /// Returns a name without its JSON quotes. Any other text keeps its quotes, which show where the text ends. The name `none` keeps its
    /// quotes, because without quotes it would look like an absent value.
    private static func plain(_ text: String?) -> String {
        guard let text else { return absent }
        let inner = text.dropFirst().dropLast()
        let isName = text.hasPrefix("\"") && !inner.isEmpty && inner.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
        return isName && inner != absent ? String(inner) : text
    }

    private func affected(_ entry: MigrationReport.Entry) -> String {
        let change = entry.change
        switch (change.kind, change.aspect) {
        case (.changed, "many"), (.changed, "ordered"): return "\(Readable.of(entry.objectCount, "link")) kept"
        case (.changed, "type"): return "\(Readable.of(entry.objectCount, "value")) converted"
        case (.changed, "identity"), (.changed, "unique"): return "\(Readable.of(entry.objectCount, "object")) checked"
        case (.replaced, _): return "new ids for \(Readable.of(entry.objectCount, "object"))"
        case (.changed, "parent"): return Readable.of(entry.objectCount, "object")
        default: return "the default for \(Readable.of(entry.objectCount, "object"))"
        }
    }
}
