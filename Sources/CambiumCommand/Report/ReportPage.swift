import Cambium

/// A report as one HTML page without scripts, and without requests to any other file.
struct ReportPage {
    let store: String
    let data: ReportData
    /// The name of the object of the report; `nil` for a report about all objects.
    let subject: String?
    /// The actor whose transactions are reported; `nil` for all.
    let actor: String?
    /// The transaction after which the report begins, and the last one.
    let range: (after: TransactionNumber, last: TransactionNumber)
    /// Whether the last transaction was the newest one of the store.
    let isNewest: Bool
    /// The last retired transaction.
    let retired: TransactionNumber
    let verification: Verification
    /// The last checkpoint that the store has signed, as a sentence.
    let signed: String
    let made: Timestamp

    /// The maximum numbers of actors, labels and findings of a verification.
    private static let (actorCountMax, labelCountMax, findingCountMax) = (100, 50, 100)

    var html: String {
        var page = HTMLWriter()
        writeHead(&page)
        page.raw("<main id=\"main\">\n")
        writeSummary(&page)
        writeProof(&page)
        writeActors(&page)
        writeTimeline(&page)
        writeChanges(&page)
        writeClones(&page)
        page.raw("</main>\n<footer><p>")
        page.data("Made by cambium on \(ReportSection.text(made)). All times are in UTC. This page needs no other file and runs no script.")
        page.raw("</p></footer>\n</body>\n</html>\n")
        return page.text
    }

    private var title: String { subject.map { "Audit report: \($0)" } ?? "Audit report: \(store)" }

    private var period: String {
        let owner = actor.map { " of \($0)" } ?? ""
        let all = isNewest && actor == nil ? "all transactions" : "the transactions\(owner)"
        return range.after == .none
            ? "\(all)\(isNewest && actor == nil ? "," : "") 1 to \(range.last)"
            : "the transactions\(owner) after \(range.after), up to \(range.last)"
    }

    private func writeHead(_ page: inout HTMLWriter) {
        page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        page.raw("<meta name=\"generator\" content=\"cambium\">\n<title>")
        page.data(title)
        page.raw("</title>\n<style>\n\(ReportStyle.css)\n</style>\n</head>\n<body>\n<header><h1>")
        page.data(title)
        page.raw("</h1><p class=\"soft\">")
        page.data("Store \(store): \(period).")
        page.raw("</p></header>\n<nav aria-label=\"Contents\"><ul>")
        let sections = [
            ("proof", "Proof"), ("actors", "Who and when"), ("timeline", "Timeline"), ("changes", "Changes"), ("clones", "Clones"),
        ]
        for (id, name) in sections {
            page.raw("<li><a href=\"#\(id)\">\(name)</a></li>")
        }
        page.raw("</ul></nav>\n")
    }

    private func writeSummary(_ page: inout HTMLWriter) {
        page.raw("<dl class=\"facts\">")
        let facts: [(String, Int)] = [
            ("Transactions", data.transactionCount), ("Actors", data.work.count), ("Insertions", data.counts[.inserted] ?? 0),
            ("Changes of objects", data.counts[.changed] ?? 0), ("Deletions", data.counts[.deleted] ?? 0),
        ]
        for (name, count) in facts { page.raw("<div><dt>\(name)</dt><dd>\(Readable.count(count))</dd></div>") }
        page.raw("</dl>\n")
        for note in omissions {
            // An option is not broken at its hyphens.
            page.raw("<p class=\"note\">\(HTMLWriter.escaped(note).replacing("--at", with: "<code>--at</code>"))</p>\n")
        }
    }

    /// The parts of the history that the page lacks.
    var omissions: [String] {
        var notes: [String] = []
        if retired > .none, range.after <= retired {
            notes.append("The changes of transactions 1 to \(retired) were retired by a compaction, so they are not in this report.")
        }
        if let rows = data.leftOutRows {
            notes.append(
                "The timeline leaves out the transactions up to \(rows.upperBound). 'cambium log' lists all, and a report of one object "
                    + "has all of its transactions.")
        }
        if data.leftOutChangeCount > 0 {
            let remedy =
                data.leftOutSections.map {
                    "They belong to transactions up to \($0.upperBound). A report with --at \($0.upperBound) has the last of them."
                } ?? "A report of an object has all of its changes."
            let changes = Readable.of(data.leftOutChangeCount, "change of an object", "changes of objects")
            notes.append("\(changes) left out, because a page has at most 4 MB. \(remedy)")
        }
        if data.cutCount > 0 {
            notes.append("\(Readable.of(data.cutCount, "long value or list", plural: "long values and lists")) cut.")
        }
        if data.work.count > Self.actorCountMax {
            notes.append("The table of actors has the \(Self.actorCountMax) with the most transactions.")
        }
        if data.leftOutNodeCount > 0 {
            notes.append("The picture of clones leaves out \(Readable.of(data.leftOutNodeCount, "copy", plural: "copies")).")
        }
        return notes
    }

    private func writeProof(_ page: inout HTMLWriter) {
        let isSound = verification.isSound
        page.raw("<section aria-labelledby=\"proof\"><h2 id=\"proof\">Proof</h2><p class=\"note\(isSound ? "" : " bad")\"><strong>")
        page.data(isSound ? "Verified." : "Not verified.")
        page.raw("</strong> ")
        page.data(
            isSound
                ? "All checksums, the tree over all transactions, and a replay of the log agree."
                : "The store is not sound. Do not rely on this report before the findings are explained.")
        page.raw("</p><dl class=\"proof\">")
        var facts = [
            ("Transactions verified", Readable.count(verification.transactionCount)), ("Root of the tree (RFC 6962)", verification.root),
        ]
        if let digest = verification.digest { facts.append(("Digest of the graph", digest.description)) }
        for (name, value) in facts {
            page.raw("<dt>\(name)</dt><dd><code>")
            page.data(value)
            page.raw("</code></dd>")
        }
        page.raw("<dt>Last signed checkpoint</dt><dd>")
        page.data(signed)
        page.raw("</dd></dl>")
        if !verification.findings.isEmpty {
            page.raw("<h3>Findings</h3><ul>")
            for finding in verification.findings.prefix(Self.findingCountMax) {
                page.raw("<li>")
                page.data(finding)
                page.raw("</li>")
            }
            page.raw("</ul>")
            let more = verification.findings.count - Self.findingCountMax
            if more > 0 { page.raw("<p>\(Readable.count(more)) more: <code>cambium verify</code> prints all.</p>") }
        }
        page.raw(
            "<p class=\"soft\">The root proves nothing by itself: compare it with a root or a signed checkpoint of this store that was "
                + "kept in another place.</p></section>\n")
    }

    private func writeActors(_ page: inout HTMLWriter) {
        page.raw("<section aria-labelledby=\"actors\"><h2 id=\"actors\">Who and when</h2>")
        if let first = data.times.first, let last = data.times.last {
            page.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of the transactions over time\">")
            ReportPicture.writeActivity(activity(from: first, to: last), from: first, to: last, to: &page)
            page.raw("</div>")
        }
        page.raw("<table class=\"stack\"><caption>The work of each actor</caption><thead><tr><th scope=\"col\">Actor</th>")
        for name in ["Transactions", "Inserted", "Changed", "Deleted"] { page.raw("<th scope=\"col\" class=\"n\">\(name)</th>") }
        page.raw("<th scope=\"col\">First</th><th scope=\"col\">Last</th></tr></thead><tbody>")
        let actors = data.work.sorted { ($1.value.transactionCount, $0.key?.text ?? "") < ($0.value.transactionCount, $1.key?.text ?? "") }
        for (actor, work) in actors.prefix(Self.actorCountMax) {
            page.raw("<tr><th scope=\"row\">")
            page.data(actor?.text ?? "unnamed")
            page.raw("</th><td class=\"n\" data-l=\"Transactions\">\(Readable.count(work.transactionCount))</td>")
            for (name, kind) in [("Inserted", ObjectChange.Kind.inserted), ("Changed", .changed), ("Deleted", .deleted)] {
                page.raw("<td class=\"n\" data-l=\"\(name)\">\(Readable.count(work.counts[kind] ?? 0))</td>")
            }
            for (name, time) in [("First", work.first), ("Last", work.last)] {
                page.raw("<td data-l=\"\(name)\">")
                if let time { page.raw("<time datetime=\"\(time)\">\(ReportSection.text(time))</time>") }
                page.raw("</td>")
            }
            page.raw("</tr>\n")
        }
        page.raw("</tbody></table></section>\n")
    }

    /// Returns the numbers of transactions in equal periods.
    private func activity(from first: Timestamp, to last: Timestamp) -> [Int] {
        let (start, end) = (first.microsecondsSince1970, last.microsecondsSince1970)
        let count = max(1, min(ReportPicture.barCountMax, data.times.count))
        var counts = [Int](repeating: 0, count: count)
        let length = max(1, Double(end - start))
        for time in data.times {
            let place = Double(time.microsecondsSince1970 - start) / length * Double(count)
            counts[max(0, min(count - 1, Int(place)))] += 1
        }
        return counts
    }

    private func writeTimeline(_ page: inout HTMLWriter) {
        page.raw("<section aria-labelledby=\"timeline\"><h2 id=\"timeline\">Timeline</h2>")
        if !data.labels.isEmpty {
            page.raw("<p>")
            let labels = data.labels.suffix(Self.labelCountMax)
            let more = data.labels.count - labels.count
            page.data("Labels: " + labels.map { "\($0.name) (transaction \($0.transaction))" }.joined(separator: ", "))
            page.data(more > 0 ? ", and \(Readable.count(more)) older ones." : ".")
            page.raw("</p>")
        }
        page.raw("<table class=\"stack\"><caption>Transactions, oldest first</caption><thead><tr><th scope=\"col\">Transaction</th>")
        page.raw("<th scope=\"col\">Time</th><th scope=\"col\">Actor</th><th scope=\"col\" class=\"n\">Changed objects</th>")
        page.raw("<th scope=\"col\">Reason</th></tr></thead><tbody>")
        for row in data.rows {
            page.raw(#"<tr><th scope="row">"#)
            page.raw(data.hasSection(row) ? "<a href=\"#t\(row.number)\">Transaction \(row.number)</a>" : "Transaction \(row.number)")
            page.raw("</th>")
            page.append(row.cells)
            page.raw("</tr>\n")
        }
        page.raw("</tbody></table></section>\n")
    }

    private func writeChanges(_ page: inout HTMLWriter) {
        page.raw("<section aria-labelledby=\"changes\"><h2 id=\"changes\">Changes</h2><p class=\"soft\">")
        page.raw("A minus sign marks the state before a transaction, and a plus sign the state after it. An empty cell means no value.</p>")
        for section in data.sections { page.append(section.page) }
        if data.sections.isEmpty { page.raw("<p>There are no changes.</p>") }
        page.raw("</section>\n")
    }

    private func writeClones(_ page: inout HTMLWriter) {
        page.raw("<section aria-labelledby=\"clones\"><h2 id=\"clones\">Clones</h2>")
        if data.nodes.isEmpty {
            page.raw("<p>No object was cloned.</p></section>\n")
            return
        }
        var copies: [ObjectID: [ObjectID]] = [:]
        for (copy, source) in data.sources { copies[source, default: []].append(copy) }
        for (source, list) in copies { copies[source] = list.sorted() }
        let roots = data.nodes.keys.filter { data.sources[$0] == nil }.sorted()
        page.raw("<p class=\"soft\">Each copy is to the right of its original. A dashed frame means that the object was deleted.</p>")
        page.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of the lineage of clones\">")
        ReportPicture.writeClones(data.nodes, copies, roots: roots, to: &page)
        page.raw("</div></section>\n")
    }
}

extension Readable {
    fileprivate static func of(_ value: Int, _ noun: String, plural: String) -> String { "\(count(value)) \(value == 1 ? noun : plural)" }
}
