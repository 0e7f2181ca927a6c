internal import CambiumModel

/// Converts the XML of a model to the definition of a schema. Records a warning for each part that a schema cannot express.
struct ModelReader {
    let file: String
    var warnings = ModelWarnings()
    var fetches: [ModelFetch] = []
    /// The expressions of all attributes, so that each pattern is compiled only once.
    let expressions = SchemaExpressions()

    init(file: String) { self.file = file }

    mutating func definition(_ model: ModelElement) throws(CambiumError) -> SchemaDefinition {
        guard model.name == "model", model["type"] ?? Self.modelType == Self.modelType else {
            let type = model["type"].map { " with the type '\($0)'" } ?? ""
            throw mistake(
                model, "The file is not a Core Data model: its first element is '\(model.name)'\(type). Pass an '.xcdatamodeld' folder.")
        }
        warnings.addUnsupported(model, .model, "The model")
        var entities: [EntityDefinition] = []
        for child in model.children {
            switch child.name {
            case "entity": entities.append(try entity(child))
            case "fetchRequest": try fetchRequest(child)
            // The element `elements` contains only the positions of the entities in the editor's diagram.
            case "elements": break
            default: warnings.addUnsupported(child: child, "The model")
            }
        }
        var sets = ModelSets(entities)
        try checkInheritance(sets)
        var derivations = ModelDerivations(sets)
        derivations.settle(&warnings)
        sets = ModelSets(derivations.entities)
        sets.settle(&warnings)
        var queries = ModelQueries(sets.entities, fetches)
        queries.settle(&warnings)
        var definition = SchemaDefinition(entities: queries.entities)
        definition.warnings = warnings.all
        return definition
    }

    /// Limits the levels of inheritance. The next steps follow the path from each entity to its root, and read all properties on the path.
    private func checkInheritance(_ sets: ModelSets) throws(CambiumError) {
        if sets.depth > ModelSets.depthMax {
            let message =
                "The entities of the model inherit through \(sets.depth) levels, but at most \(ModelSets.depthMax) are allowed. "
                + "Use fewer levels of parents."
            throw CambiumError(.limitExceeded, message, place: .init(file: file))
        }
        do throws(CambiumError) {
            try SchemaDefinition(entities: sets.entities).checkInheritance(parents: sets.parents)
        } catch {
            var error = error
            error.place = .init(file: file)
            throw error
        }
    }

    private static let modelType = "com.apple.IDECoreDataModeler.DataModel"

    // MARK: Entities

    private mutating func entity(_ element: ModelElement) throws(CambiumError) -> EntityDefinition {
        let name = try name(of: element)
        warnings.addUnsupported(element, .entity, name)
        var entity = EntityDefinition(name)
        entity.parent = text(element["parentEntity"])
        entity.isAbstract = flag(element, "isAbstract", name)
        entity.formerName = formerName(element, name)
        for child in element.children {
            switch child.name {
            case "attribute":
                entity.attributes.append(try attribute(child, of: name))
                if flag(child, "indexed", name) { entity.indexes.append([try self.name(of: child)]) }
            case "relationship": entity.relationships.append(try relationship(child, of: name))
            case "fetchedProperty": try fetchedProperty(child, of: name)
            case "userInfo": readUserInfo(child, &entity.userInfo, name)
            case "uniquenessConstraints": entity.unique += sets(in: child, of: "uniquenessConstraint", with: "constraint", name)
            case "compoundIndexes": entity.indexes += sets(in: child, of: "compoundIndex", with: "index", name)
            case "fetchIndex": if let index = fetchIndex(child, of: name) { entity.indexes.append(index) }
            default: warnings.addUnsupported(child: child, name)
            }
        }
        return entity
    }

    /// Returns lists of names. A model writes each list as `<outer><inner value="..."/></outer>`.
    private mutating func sets(
        in element: ModelElement, of outer: String, with inner: String, _ place: String
    ) -> [[String]] {
        var sets: [[String]] = []
        for child in element.children {
            guard child.name == outer else {
                warnings.addUnsupported(child: child, place)
                continue
            }
            for stranger in child.children where stranger.name != inner || stranger["value"] == nil {
                warnings.addUnsupported(child: stranger, place)
            }
            sets.append(child.children(inner).compactMap { $0["value"] })
        }
        return sets
    }

    private mutating func fetchIndex(_ element: ModelElement, of entity: String) -> [String]? {
        let place = element["name"].map { "\(entity), index '\($0)'" } ?? "\(entity), an index"
        warnings.addUnsupported(element, .fetchIndex, place)
        if element["partialIndexPredicate"] != nil {
            warnings.add(place, "'partialIndexPredicate' is ignored; the index contains all objects")
        }
        var properties: [String] = []
        for child in element.children {
            guard child.name == "fetchIndexElement" else {
                warnings.addUnsupported(child: child, place)
                continue
            }
            warnings.addUnsupported(child, .fetchIndexElement, place)
            if let type = child["type"], type != "Binary" {
                warnings.add(place, "the type '\(type)' is ignored; the index becomes an ordinary index")
            }
            guard let property = child["property"] else {
                warnings.add(place, "the index is ignored; it has an expression, but a schema's indexes contain only attributes")
                return nil
            }
            if let order = child["order"], !["ascending", "descending"].contains(order) {
                warnings.add(place, "the order '\(order)' is unknown and is read as ascending")
            }
            properties.append((child["order"] == "descending" ? "-" : "") + property)
        }
        return properties
    }

    // MARK: Parts of every element

    mutating func readUserInfo(_ element: ModelElement, _ userInfo: inout [String: String], _ place: String) {
        for child in element.children {
            guard child.name == "entry", let key = child["key"] else {
                warnings.addUnsupported(child: child, place)
                continue
            }
            if userInfo.updateValue(child["value"] ?? "", forKey: key) != nil {
                warnings.add(place, "the user info has the key '\(key)' more than once; the last value is used")
            }
        }
    }

    mutating func flag(_ element: ModelElement, _ key: String, _ place: String) -> Bool {
        guard let text = element[key] else { return false }
        if let flag = Self.flag(text) { return flag }
        warnings.add(place, "'\(key)' is '\(text)', which is neither YES nor NO; it is read as NO")
        return false
    }

    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "1", "true": true
        case "no", "0", "false": false
        default: nil
        }
    }

    func name(of element: ModelElement) throws(CambiumError) -> String {
        if let name = text(element["name"]) { return name }
        throw mistake(element, "The element '\(element.name)' has no name. Set its name in Xcode.")
    }

    func formerName(_ element: ModelElement, _ name: String) -> String? {
        let former = text(element["elementID"]) ?? text(element["renamingIdentifier"])
        return former == name ? nil : former
    }

    /// Returns the text, or `nil` if the text is missing or empty.
    func text(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }

    func mistake(_ element: ModelElement, _ message: String) -> CambiumError {
        CambiumError(.invalidInput, message, place: .init(file: file, line: element.line, column: element.column))
    }
}
