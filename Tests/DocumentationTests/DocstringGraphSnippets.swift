import Cambium

/// The examples of the docstrings about graphs, columns and walks, word for word. The code is compiled only.
enum DocstringGraphSnippets {
    static func printTitles(_ store: Store) throws {
        let graph = store.graph
        for id in try graph.objects(of: "Note") { print(try graph[id, "title"]) }
    }

    static func printNames(_ graph: Graph) throws {
        for id in try graph.objects(of: "Note") { print(graph.name(of: id) ?? "") }
    }

    static func printPlaces(_ graph: Graph) throws {
        let note = try graph.schema.required("Note")
        let titles = graph.column(try note.requiredAttribute("title"))
        for place in graph.places(of: note) { print(titles.string(at: place) ?? "") }
    }

    static func find(_ graph: Graph) throws {
        let note = try graph.find("Note", identity: [1])
        if let note { print(try graph[note, "title"], try graph.members("items", of: note).count) }
    }

    static func printColumn(_ graph: Graph, _ note: Entity) throws {
        let title = graph.column(try note.requiredAttribute("title"))
        for place in graph.places(of: note) { print(title.string(at: place) ?? "") }
    }

    static func countItems(_ graph: Graph) throws {
        let note = try graph.schema.required("Note")
        let items = graph.relation(try note.requiredRelationship("items"))
        for place in graph.places(of: note) { print(items.count(of: place)) }
    }

    static func findAll(_ names: [String], _ package: Entity, _ graph: Graph) {
        let packages = graph.finder(package)!
        for name in names { print(packages.find(name) != nil) }
    }

    static func place(_ note: ObjectID, _ graph: Graph) {
        if let place = graph.place(of: note) {
            print(graph.entity(of: place).name, graph.provenance(of: place).changed)
        }
    }

    static func insert(_ store: Store) throws {
        let note = try store.write { try $0.insert("Note", ["title": "Paris"]) }.result
        print(store.graph.name(of: note) ?? "deleted")
    }

    // MARK: Walks

    static func components(_ graph: Graph) throws {
        let components = try graph.walk(along: ["follows"]).components()
        print(components.sizes.count, components.sizes.first ?? 0)
    }

    static func order(_ graph: Graph) {
        do {
            print(try graph.walk(along: ["dependencies"]).topologicalOrder())
        } catch {
            print(error.message, (error.underlying as? LinkCycle)?.objects ?? [])
        }
    }

    static func path(_ graph: Graph, from jane: ObjectID, to john: ObjectID) throws -> [ObjectID]? {
        let follows = try graph.walk(along: ["follows"])
        for object in try follows.objects(from: [jane], within: 2) { print(object.distance, object.id) }
        let path = try follows.path(from: jane, to: john)
        return path
    }

    static func distances(_ graph: Graph, _ jane: ObjectID) throws {
        let follows = try graph.walk(along: ["follows"])
        for object in try follows.objects(from: [jane], within: 2) { print(object.distance, object.id) }
    }

    static func reach(_ graph: Graph, _ jane: ObjectID) throws {
        let reached = try graph.walk(along: ["follows"]).objects(from: [jane])
        print(reached.count, reached.ids(at: 1))
    }
}
