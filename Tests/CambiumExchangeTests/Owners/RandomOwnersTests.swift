import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

/// Random trees of owners and members. Whatever the order and the nesting of the rows, an import results in the same graph: one object for
/// each identity of an owner and number in it.
@Suite struct RandomOwnersTests {
    /// The wanted graph: the title of each issue and the text of each comment, by the values of their identities.
    private struct Oracle {
        var projects: Set<String> = []
        var titles: [String: String] = [:]
        var texts: [String: String] = [:]
    }

    private static func oracle(_ random: inout SplitMix64) -> Oracle {
        var oracle = Oracle()
        for _ in 0..<Int.random(in: 1...25, using: &random) {
            let (key, issue, n) = ("P\(random.next() % 4)", random.next() % 4, random.next() % 3)
            oracle.projects.insert(key)
            oracle.titles["\(key)-\(issue)"] = "t\(random.next() % 9)"
            if random.isTrue(2, outOf: 3) { oracle.texts["\(key)-\(issue)-\(n)"] = "c\(random.next() % 9)" }
        }
        return oracle
    }

    /// Returns rows that describe the oracle in random order. Each issue and each comment is nested in its owner or a row of its own, and
    /// some issues are both. The rows of comments are last, because a reference to an issue describes it.
    private static func rows(_ oracle: Oracle, _ random: inout SplitMix64) -> [(entity: String, row: String)] {
        var (projects, issues, comments): ([String: [String]], [(String, String)], [(String, String)]) = ([:], [], [])
        for (name, title) in oracle.titles.sorted(by: { $0.key < $1.key }).shuffled(using: &random) {
            let parts = name.split(separator: "-")
            var nested: [String] = []
            for (comment, text) in oracle.texts.sorted(by: { $0.key < $1.key }) where comment.hasPrefix(name + "-") {
                let body = #""n":\#(comment.split(separator: "-")[2]),"text":"\#(text)""#
                let issue = #"{"project":"\#(parts[0])","number":\#(parts[1])}"#
                let isNested = random.isTrue(1, outOf: 2)
                if isNested { nested.append("{\(body)}") } else { comments.append(("Comment", "{\(body),\"issue\":\(issue)}")) }
            }
            let values = [#""number":\#(parts[1])"#, #""title":"\#(title)""#, #""comments":[\#(nested.joined(separator: ","))]"#]
            let body = values.shuffled(using: &random).joined(separator: ",")
            let way = Int.random(in: 0..<3, using: &random)
            if way != 0 { projects[String(parts[0]), default: []].append("{\(body)}") }
            let owner = random.isTrue(1, outOf: 2) ? #""\#(parts[0])""# : #"{"key":"\#(parts[0])"}"#
            if way != 1 { issues.append(("Issue", #"{"project":\#(owner),\#(body)}"#)) }
        }
        let owners = oracle.projects.sorted().map { key in
            ("Project", #"{"issues":[\#((projects[key] ?? []).joined(separator: ","))],"key":"\#(key)"}"#)
        }
        return (owners + issues).shuffled(using: &random) + comments.shuffled(using: &random)
    }

    private func check(_ store: Store, _ oracle: Oracle, _ seed: UInt64) throws {
        let graph = store.graph
        func texts(_ entity: String, _ attribute: String) throws -> [String: String] {
            var found: [String: String] = [:]
            for id in try graph.objects(of: entity) {
                let isRepeated = found.updateValue(try graph[id, attribute].text, forKey: graph.identityText(of: id) ?? "-") != nil
                #expect(!isRepeated, "seed \(seed)")
            }
            return found
        }
        #expect(Set(try texts("Project", "key").keys) == oracle.projects, "seed \(seed)")
        #expect(try texts("Issue", "title") == oracle.titles, "seed \(seed)")
        let numbered = oracle.texts.map { name, text in (name.split(separator: "-").map(String.init), text) }
        let wanted = Dictionary(uniqueKeysWithValues: numbered.map { ("\($0[2])-\($0[0])-\($0[1])", $1) })
        #expect(try texts("Comment", "text") == wanted, "seed \(seed)")
        #expect(graph.invariantFindings().isEmpty, "seed \(seed)")
    }

    @Test func `trees of owners and members imported in any order and nesting are one graph, and again change nothing`() throws {
        for seed in UInt64(0)..<(LongTests.areWanted ? 2000 : 60) {
            var random = SplitMix64(seed: seed)
            let oracle = Self.oracle(&random)
            let stores = [try OwnedIdentity.store(), try OwnedIdentity.store()]
            for store in stores {
                for _ in 0..<2 {
                    for (entity, row) in Self.rows(oracle, &random) {
                        let report = try store.importing(entity, row) { $0.toMany = .append }
                        #expect(report.errors.isEmpty, "seed \(seed): \(row)")
                    }
                    try check(store, oracle, seed)
                }
                let digest = store.graph.digest()
                for (entity, row) in Self.rows(oracle, &random) { try store.importing(entity, row) { $0.toMany = .append } }
                #expect(store.graph.digest() == digest, "seed \(seed)")
            }
            #expect(try stores[0].graph.identified() == stores[1].graph.identified(), "seed \(seed)")
        }
    }
}
