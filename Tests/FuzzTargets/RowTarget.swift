import Cambium
import CambiumGraph
import CambiumLog
import CambiumModel

/// The fuzz target for imports. An import of arbitrary bytes ends with a report or a `CambiumError`, and a replay of its log leads to the
/// same sound graph.
///
/// The first three bytes of an input determine the options, the entity and the format. The rows follow.
enum RowTarget {
    /// The files of a store with some objects that rows can match.
    private static let sample = Result { try SampleStore().files }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let texts = [
            SampleStore.rows, "{\"id\":4,\"tags\":[\"x\"]}\n{\"id\":\"y\"}\n{\"id\":5,\"kind\":\"Special\",\"extra\":\"abc\"}\n",
            "{\"key\":{\"id\":\"1\"},\"wide\":\"-1.234,5\",\"labels\":{\"all\":\"A,b\"}}\n"
                + "{\"key.id\":9,\"labels\":null,\"tags\":[5,\" c \"]}",
            "{\"id\":6,\"partner\":{\"id\":7},\"friends\":[6,{\"id\":8,\"owner\":{\"first\":\"a\",\"last\":\"b\"}}]}{\"id\":6}",
        ]
        let records = [
            "id,tags,owner.first,owner.last\n6,x;y,a,b\n7,\"x\\;\",,\n", "kind,id,partner,friends\ns,8,6,\"[6,{\"\"id\"\":9}]\"\n\"\",1\n",
        ]
        let textOptions: [[UInt8]] = [
            [0, 0, 0], [255, 255, 0], [0b1010_1010, 0b0100_0101, 0], [0, 0b1001_0000, 1], [0, 0b1000_0000, 0],
        ]
        let recordOptions: [[UInt8]] = [[0, 0, 128], [255, 127, 128], [64, 0b0100_1000, 128]]
        return seeds(texts, textOptions) + seeds(records, recordOptions)
    }

    /// Each of the texts after each of the options.
    private static func seeds(_ texts: [String], _ options: [[UInt8]]) -> [[UInt8]] {
        texts.flatMap { text in options.map { $0 + Array(text.utf8) } }
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        guard input.count > 3 else { return }
        let volume = MemoryVolume(contents: try sample.get())
        let store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
        let entity = store.schema.entities[Int(input[2]) % store.schema.entities.count]
        let transaction = store.graph.transaction
        let rows = ImportSource.bytes(Array(input.dropFirst(3)), format: input[2] >> 7 == 0 ? .json : .csv)
        do { _ = try store.importRows(entity, from: [rows], options(input[0], input[1], entity)) } catch is CambiumError {}  // Refused.
        let graph = store.graph
        // The graph before the import is sound, and most inputs change nothing.
        if graph.transaction == transaction { return }
        try Finding.check(graph)
        try store.close()
        guard try ReadOnlyStore(volume).graph.digest() == graph.digest() else { throw Finding("the log leads to another graph") }
    }

    /// The mappings with which an import may read rows of each entity.
    private static let mappings = [
        "Thing": ObjectMapping(
            attributes: [
                "id": PropertyMapping(.coalesce(["key.id", "id"]), functions: [.integer]),
                "title": PropertyMapping(.join(["title", "small"], separator: "-"), functions: [.trim, .upper]),
                "wide": PropertyMapping(numbers: NumberFormat(decimal: ",", grouping: ".")),
            ],
            relationships: ["tags": PropertyMapping(.path("labels.all"), functions: [.split(","), .lower])]),
        "Tag": ObjectMapping(attributes: ["name": PropertyMapping(functions: [.text, .trim])]),
        "Step": ObjectMapping(identity: ["text"]),
    ]

    private static func options(_ first: UInt8, _ second: UInt8, _ entity: Entity) -> ImportOptions {
        func pick<Case>(_ cases: [Case], _ bits: UInt8) -> Case { cases[Int(bits) % cases.count] }
        var options = ImportOptions()
        options.missing = pick(ImportOptions.MissingKey.allCases, first & 1)
        options.null = pick(ImportOptions.NullValue.allCases, first >> 1 & 3)
        options.mismatch = pick(ImportOptions.Mismatch.allCases, first >> 3 & 3)
        options.existing = pick(ImportOptions.Existing.allCases, first >> 5 & 1)
        options.references = pick(ImportOptions.Reference.allCases, first >> 6)
        options.toMany = pick(ImportOptions.ToMany.allCases, second & 1)
        options.unknown = pick(ImportOptions.UnknownKey.allCases, second >> 1 & 3)
        options.onError = second >> 3 & 1 == 0 ? .stop : .skip
        options.batchRowCount = second >> 4 & 1 == 0 ? nil : 2
        options.effect = second >> 5 & 1 == 0 ? .commit : .dryRun
        options.absent = second >> 4 & 1 == 0 && second >> 7 & 1 != 0 ? .delete : .keep
        options.absentMax = .percent(100)
        if second >> 7 & 1 != 0 {
            var nested = mappings
            let own = nested.removeValue(forKey: entity.name)
            options.mapping = ImportMapping(objects: own ?? ObjectMapping(), nested: nested)
        }
        if second >> 6 & 1 != 0 {
            options.mapping = options.mapping ?? ImportMapping()
            options.mapping?.objects.entityFrom = Discriminator(key: "kind", map: ["s": "Special"])
        }
        return options
    }
}
