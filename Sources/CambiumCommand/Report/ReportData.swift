import Cambium

/// The content of a report, gathered by a walk through the transactions.
struct ReportData {
    /// The work of one actor.
    struct Work {
        var transactionCount = 0
        var counts: [ObjectChange.Kind: Int] = [:]
        var first: Timestamp?
        var last: Timestamp?
    }

    /// The row of a transaction in the timeline.
    struct Row {
        let number: TransactionNumber
        /// Whether there is a section for the transaction, unless it was left out.
        let hasSection: Bool
        /// The cells beside the number.
        let cells: HTMLWriter

        var byteCount: Int { cells.byteCount + 80 }
    }

    /// The maximum number of bytes of the timeline and all changes together, of the changes of one transaction, and of the timeline.
    private static let byteCountMax = 3_720_000
    private static let transactionByteCountMax = 1_500_000
    private static let timelineByteCountMax = 900_000

    /// The object that the report is about; `nil` for all objects.
    let subject: ObjectID?
    private(set) var transactionCount = 0
    private(set) var changeCount = 0
    private(set) var counts: [ObjectChange.Kind: Int] = [:]
    private(set) var work: [ExactText?: Work] = [:]
    private(set) var times: [Timestamp] = []
    /// The rows of the timeline and the sections of changes that fit, oldest first.
    private(set) var rows: [Row] = []
    private(set) var sections: [(number: TransactionNumber, changeCount: Int, page: HTMLWriter)] = []
    private var (rowsByteCount, sectionsByteCount) = (0, 0)
    private(set) var leftOutRows: ClosedRange<TransactionNumber>?
    private(set) var leftOutSections: ClosedRange<TransactionNumber>?
    private(set) var leftOutChangeCount = 0
    /// The number of long values that were cut.
    private(set) var cutCount = 0
    private(set) var nodes: [ObjectID: ReportPicture.Node] = [:]
    private(set) var sources: [ObjectID: ObjectID] = [:]
    private(set) var leftOutNodeCount = 0
    private(set) var labels: [(name: String, transaction: TransactionNumber)] = []

    init(subject: ObjectID?) { self.subject = subject }

    /// Adds a transaction.
    ///
    /// - Parameter migration: A line for each change of the schema.
    mutating func add(_ step: TransactionStep, migration: [String]) throws {
        let changes = step.changes
        let actor = step.entry.metadata.actor.map(ExactText.init)
        let ops = step.entry.isRetired ? [] : try step.entry.ops()
        var section = ReportSection(step, ops, subject == nil ? migration : [])
        for change in changes where subject.map({ $0 == change.id }) ?? true {
            guard section.add(change, of: changes, byteCountMax: Self.transactionByteCountMax) else { continue }
            counts[change.kind, default: 0] += 1
            work[actor, default: Work()].counts[change.kind, default: 0] += 1
        }
        if subject == nil { section.addNotes(changes) }
        addClones(ops, changes, step)
        if section.changeCount == 0, subject != nil { return }
        transactionCount += 1
        changeCount += section.changeCount
        cutCount += section.cutCount
        leftOutChangeCount += section.leftOutCount
        let time = step.entry.time
        times.append(time)
        var own = work[actor] ?? Work()
        own.transactionCount += 1
        (own.first, own.last) = (own.first ?? time, time)
        work[actor] = own
        keep(section, step.entry.number)
    }

    /// Adds the row and the section of a transaction. If there are too many bytes, leaves out the oldest ones.
    private mutating func keep(_ section: ReportSection, _ number: TransactionNumber) {
        let row = Row(number: number, hasSection: section.hasContent, cells: section.cells)
        rows.append(row)
        rowsByteCount += row.byteCount
        while rowsByteCount > Self.timelineByteCountMax, rows.count > 1 {
            let gone = rows.removeFirst()
            rowsByteCount -= gone.byteCount
            leftOutRows = (leftOutRows?.lowerBound ?? gone.number)...gone.number
        }
        if section.hasContent {
            let page = section.page
            sections.append((number, section.changeCount - section.leftOutCount, page))
            sectionsByteCount += page.byteCount
        }
        while rowsByteCount + sectionsByteCount > Self.byteCountMax, sections.count > 1 {
            let gone = sections.removeFirst()
            sectionsByteCount -= gone.page.byteCount
            leftOutChangeCount += gone.changeCount
            leftOutSections = (leftOutSections?.lowerBound ?? gone.number)...gone.number
        }
    }

    /// Returns whether the page has a section for the transaction of a row.
    func hasSection(_ row: Row) -> Bool { row.hasSection && row.number > leftOutSections?.upperBound ?? .none }

    // MARK: Clones

    private mutating func addClones(_ ops: [Op], _ changes: Changes, _ step: TransactionStep) {
        for case .clone(let clone) in ops {
            let roots = Set(clone.roots)
            for change in changes where change.kind == .inserted {
                guard let place = step.after.place(of: change.id), let source = step.after.source(of: place), roots.contains(source)
                else { continue }
                if nodes.count >= ReportPicture.nodeCountMax {
                    leftOutNodeCount += 1
                    continue
                }
                sources[change.id] = source
                if nodes[source] == nil { nodes[source] = node(source, step.after, step.before) }
                var own = node(change.id, step.after, step.before)
                own.transaction = step.entry.number
                nodes[change.id] = own
            }
        }
    }

    private func node(_ id: ObjectID, _ after: Graph, _ before: Graph) -> ReportPicture.Node {
        let name = after.fullName(of: id) ?? before.fullName(of: id) ?? id.description
        return ReportPicture.Node(name: name, transaction: nil, exists: true)
    }

    /// Finds which copied objects still exist, and the labels. For a report about one object, keeps only its own lineage.
    mutating func finish(_ newest: Graph) {
        for (id, node) in nodes {
            nodes[id] = ReportPicture.Node(name: node.name, transaction: node.transaction, exists: newest.contains(id))
        }
        labels = newest.labels.map { (name: $0.key, transaction: $0.value) }
            .sorted { ($0.transaction, $0.name) < ($1.transaction, $1.name) }
        guard let subject else { return }
        var kept: Set<ObjectID> = []
        for id in nodes.keys where root(of: id) == root(of: subject) { kept.insert(id) }
        nodes = nodes.filter { kept.contains($0.key) }
        sources = sources.filter { kept.contains($0.key) }
    }

    private func root(of id: ObjectID) -> ObjectID {
        var id = id
        while let source = sources[id] { id = source }
        return id
    }
}

/// The part of a report about one transaction: its row in the timeline, and its changes.
struct ReportSection {
    /// The maximum number of characters of a value, and of members of a relationship.
    private static let characterCountMax = 400
    private static let memberCountMax = 12

    private let entry: TransactionLog.Entry
    private let step: TransactionStep
    private var body = HTMLWriter()
    private var notes: [String] = []
    /// A line for each change of the schema.
    private let migration: [String]
    private(set) var changeCount = 0
    private(set) var leftOutCount = 0
    private(set) var cutCount = 0

    init(_ step: TransactionStep, _ ops: [Op], _ migration: [String]) {
        (self.step, entry, self.migration) = (step, step.entry, migration)
        for op in ops {
            switch op {
            case .undo(let ranges):
                let texts = ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
                notes.append("undoes \(texts.joined(separator: ", "))")
            case .clone(let clone): notes.append("copies \(Readable.of(clone.objectCount, "object"))")
            case .digest: notes.append("records a digest")
            default: break
            }
        }
        if entry.isRetired { notes.append("has no changes any more, because they were retired") }
    }

    var hasContent: Bool { changeCount > 0 || !notes.isEmpty }

    mutating func addNotes(_ changes: Changes) {
        if changes.changesSchema {
            notes.append(step.before.schema.entities.isEmpty ? "creates the schema" : "changes the schema")
        }
        for label in changes.labels {
            notes.append(label.after.map { "names transaction \($0) '\(label.name)'" } ?? "removes the label '\(label.name)'")
        }
    }

    /// Adds the rows of an object. Returns `false` if the object has no difference to show.
    mutating func add(_ change: ObjectChange, of changes: Changes, byteCountMax: Int) -> Bool {
        let attributes = change.attributes.filter { change.kind == .changed || !$0.attribute.isDerived }
        let relationships = change.relationships
        if change.kind == .changed, attributes.isEmpty, relationships.isEmpty { return false }
        changeCount += 1
        if body.byteCount > byteCountMax {
            leftOutCount += 1
            return true
        }
        let graph = change.kind == .deleted ? changes.before : changes.after
        let name = graph.fullName(of: change.id) ?? change.id.description
        let isGroup = change.kind != .changed || attributes.count + relationships.count > 1
        if body.byteCount > 0 { body.raw("</tbody><tbody>") }
        if isGroup {
            body.raw(#"<tr><th class="g" scope="rowgroup" colspan="3"><span class="k">\#(change.kind.rawValue)</span> "#)
            body.data(name)
            if let source = source(of: change, changes) { body.data(", a copy of \(source)") }
            body.raw("</th></tr>")
        }
        let prefix = isGroup ? "" : name + " · "
        for value in attributes { row(prefix + value.attribute.name, text(value.before), text(value.after), isWhole: !isGroup) }
        for links in relationships {
            let (removed, added) = links.isMoved ? (links.before, links.after) : (links.removed, links.added)
            row(prefix + links.relationship.name, text(removed, changes.before), text(added, changes.after), isWhole: !isGroup)
        }
        return true
    }

    /// Returns the name of the object of which an inserted object is a copy.
    private func source(of change: ObjectChange, _ changes: Changes) -> String? {
        guard change.kind == .inserted, let source = step.clonedSource(of: change.id) else { return nil }
        return changes.after.fullName(of: source) ?? changes.before.fullName(of: source) ?? changes.after.name(of: source) ?? "an object"
    }

    /// - Parameter isWhole: Whether the row is the only one of its object.
    private mutating func row(_ name: String, _ before: String, _ after: String, isWhole: Bool) {
        body.raw(isWhole ? #"<tr><th class="g" scope="row">"# : #"<tr><th scope="row">"#)
        body.data(name)
        body.raw(before.isEmpty ? "</th><td></td>" : #"</th><td class="o">"#)
        if !before.isEmpty {
            body.data(before)
            body.raw("</td>")
        }
        body.raw(after.isEmpty ? "<td></td></tr>" : #"<td class="w">"#)
        if !after.isEmpty {
            body.data(after)
            body.raw("</td></tr>")
        }
        body.raw("\n")
    }

    private mutating func text(_ value: Value) -> String {
        if value == .null { return "" }
        let text = value.text
        if text.isEmpty { return "\"\"" }
        if text.utf8.count <= Self.characterCountMax { return text }
        cutCount += 1
        return text.prefix(Self.characterCountMax) + "… (\(Readable.of(text.utf8.count, "byte")) in all)"
    }

    private mutating func text(_ ids: [ObjectID], _ graph: Graph) -> String {
        let listed = ids.prefix(Self.memberCountMax).map { graph.fullName(of: $0) ?? $0.description }.joined(separator: ", ")
        if ids.count <= Self.memberCountMax { return listed }
        cutCount += 1
        return "\(listed), and \(Readable.count(ids.count - Self.memberCountMax)) more"
    }

    // MARK: Output

    /// The cells of the timeline beside the number.
    var cells: HTMLWriter {
        var page = HTMLWriter()
        page.raw(#"<td data-l="Time"><time datetime="\#(entry.time)">\#(Self.text(entry.time))</time></td><td data-l="Actor">"#)
        page.data(entry.metadata.actor ?? "–")
        page.raw(#"</td><td class="n" data-l="Changed objects">\#(Readable.count(changeCount))</td><td>"#)
        page.data(([entry.metadata.message ?? ""] + notes).filter { !$0.isEmpty }.joined(separator: "; "))
        page.raw("</td>")
        return page
    }

    /// The section with the changes.
    var page: HTMLWriter {
        var page = HTMLWriter()
        let number = entry.number
        page.raw(#"<section id="t\#(number)" aria-labelledby="h\#(number)">"#)
        page.raw(#"<h3 id="h\#(number)">Transaction \#(number)</h3><p class="soft">"#)
        page.raw(#"<time datetime="\#(entry.time)">\#(Self.text(entry.time))</time> by "#)
        page.data(entry.metadata.actor ?? "an unnamed actor")
        if let request = entry.metadata.requestID { page.data(", request \(request)") }
        page.raw("</p>")
        if let message = entry.metadata.message {
            page.raw("<p>")
            page.data(message)
            page.raw("</p>")
        }
        if !notes.isEmpty {
            page.raw("<p>")
            page.data("This transaction " + notes.joined(separator: "; ") + (migration.isEmpty ? "." : ":"))
            page.raw("</p>")
        }
        if !migration.isEmpty {
            page.raw("<ul>")
            for line in migration {
                page.raw("<li>")
                page.data(line)
                page.raw("</li>")
            }
            page.raw("</ul>")
        }
        if changeCount > 0 {
            page.raw(#"<table class="changes stack"><caption>\#(Readable.of(changeCount, "changed object"))</caption><thead><tr>"#)
            page.raw(#"<th scope="col">Object and property</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>"#)
            page.append(body)
            page.raw("</tbody></table>")
        }
        if leftOutCount > 0 {
            let count = Readable.of(leftOutCount, "more object")
            page.raw(#"<p class="note">\#(count) of this transaction left out: the page is limited.</p>"#)
        }
        page.raw("</section>\n")
        return page
    }

    /// Returns a time with its seconds, in UTC.
    static func text(_ time: Timestamp) -> String { time.description.prefix(19).replacing("T", with: " ") + " UTC" }
}
