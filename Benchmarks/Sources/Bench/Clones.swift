import Cambium

/// Clones folders with everything below them. The copies have new uids, link to each other, and refer to the same tags as the originals.
struct Clones {
    private let settings: Settings

    /// A folder of the data. `objectCount` is the number of its objects, including all below it.
    private struct Root {
        let name: String
        let uid: String
        let objectCount: Int
        let roundCount: Int
    }

    init(_ settings: Settings) { self.settings = settings }

    private var roots: [Root] {
        let counts = settings.isSmall ? [103, 10_013, 100_010] : [993, 100_007, 1_000_002]
        return [
            Root(name: "1e6", uid: "b38c749952a51ddb", objectCount: counts[2], roundCount: 5),
            Root(name: "1e5", uid: "17099b0ed7d30385", objectCount: counts[1], roundCount: 9),
            Root(name: "1e3", uid: "754222911d11056a", objectCount: counts[0], roundCount: 25),
        ]
    }

    func run() throws {
        let ordered = try CloneInput.ordered.write(settings)
        for root in roots { try measureInMemory(root, ordered, variant: "memory") }
        for root in roots { try measureInMemory(root, ordered, reserve: 200_000_000, variant: "memory, reserved") }
        let definition = try SynthSchema.cloneable()
        for root in roots {
            try Tree(settings.store("clones")).remove()
            let store = try Store.create(at: settings.store("clones"), schema: definition.schema)
            _ = try definition.import(ordered, into: store)
            try measure(root, store, variant: "")
            try store.close()
        }
        for input in [CloneInput.interleaved, .shuffled] {
            try measureInMemory(
                roots[0], try input.write(settings), reserve: 200_000_000, variant: "memory, reserved, \(input.rawValue)")
        }
    }

    /// - Parameter reserve: the number of bytes that the operating system must supply before each clone.
    private func measureInMemory(_ root: Root, _ input: String, reserve: Int = 0, variant: String) throws {
        let definition = try SynthSchema.cloneable()
        let store = try Store.inMemory(schema: definition.schema)
        _ = try definition.import(input, into: store)
        try measure(root, store, reserve: reserve, variant: variant)
        try store.close()
    }

    /// Clones one folder several times and prints the median.
    private func measure(_ root: Root, _ store: Store, reserve: Int = 0, variant: String) throws {
        let folder = try store.schema.required("folder")
        let identity = try Value(text: CloneInput.uuid(root.uid), type: .uuid)
        let id = try store.graph.place(folder, identity: [identity]).map(store.graph.id(of:)).required("folder \(root.uid)")
        var times: [Double] = []
        var byteCount = 0
        for round in 0..<root.roundCount {
            store.reserveMemory(byteCount: reserve)
            let (seconds, (clone, receipt)) = try timed { try store.write { try $0.clone(id) } }
            try check(clone.summary.objectCount, is: root.objectCount, "copies")
            if round == 0 { try validate(clone, receipt.graph) }
            times.append(seconds)
            byteCount = receipt.logByteCount
        }
        let median = times.sorted()[times.count / 2]
        let workload = "C5.deep clone \(root.name)"
        settings.emit(workload, Double(root.objectCount) / median, "objects/s", variant: variant)
        settings.emit("\(workload) |latency", median * 1000, "ms", variant: variant)
        if byteCount > 0 { settings.emit("\(workload) |written", Double(byteCount) / 1e6, "MB", variant: variant) }
    }

    /// Throws if a copy does not have its original's values and a new uid, or if it leads to an original that is not shared.
    private func validate(_ clone: Clone, _ graph: Graph) throws {
        let shared = try graph.schema.required("tag")
        for (entity, _) in clone.summary.counts {
            let uid = try entity.requiredAttribute("uid")
            for original in graph.objects(of: entity) {
                guard let copy = clone.map.copy(of: original) else { continue }
                for attribute in entity.attributes {
                    let isEqual = graph.value(of: attribute, of: original) == graph.value(of: attribute, of: copy)
                    try check(isEqual == (attribute !== uid), "'\(attribute.name)' of a copy has the right value")
                }
                for relationship in entity.relationships {
                    let members = try graph.members(relationship, of: original).required("the members of an original")
                    let copies = try graph.members(relationship, of: copy).required("the members of a copy")
                    let isUpward = original == copy || members.contains { clone.map.copy(of: $0) == nil }
                    let expected = members.map { clone.map.copy(of: $0) ?? $0 }
                    try check(copies == expected, "'\(relationship.name)' of a copy leads to copies")
                    try check(!isUpward || relationship.destination == shared.number || clone.roots.contains(copy), "only tags are shared")
                }
            }
        }
    }
}
