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

/// A fetch request of a model. After all entities have been read, `ModelQueries` converts the request to a stored query.
struct ModelFetch {
    /// The entity that declares the query: the owner of a fetched property, or the entity of a fetch request template.
    let owner: String
    let name: String
    /// The place in the model, for warnings.
    let place: String
    /// The entity whose objects are fetched.
    let target: String
    let predicate: String?
    let limit: Int?
    let includesSubentities: Bool
    /// Whether this is the request of a fetched property, and not a template.
    var isProperty = false
    /// The user info of a fetched property. The predicate of the property may refer to this user info.
    var userInfo: [String: String] = [:]
}

extension ModelReader {
    /// Reads a fetch request template. A template belongs to the whole model, so the entity that it fetches declares the query.
    mutating func fetchRequest(_ element: ModelElement) throws(CambiumError) {
        let name = try name(of: element)
        let place = "The fetch request '\(name)'"
        guard let target = text(element["entity"]) else { return warnings.add(place, ModelQueries.warning("it has no entity")) }
        fetches.append(fetch(element, of: target, name: name, target, place))
    }

    mutating func fetchedProperty(_ element: ModelElement, of entity: String) throws(CambiumError) {
        let name = try name(of: element)
        let place = "\(entity).\(name)"
        warnings.addUnsupported(element, .fetchedProperty, place)
        var userInfo: [String: String] = [:]
        for child in element.children where child.name != "fetchRequest" {
            if child.name == "userInfo" { readUserInfo(child, &userInfo, place) } else { warnings.addUnsupported(child: child, place) }
        }
        let request = element.children("fetchRequest").first
        guard let request, let target = text(request["entity"]) else {
            return warnings.add(place, ModelQueries.warning("it has no fetch request with an entity"))
        }
        var fetch = fetch(request, of: entity, name: name, target, place)
        (fetch.isProperty, fetch.userInfo) = (true, userInfo)
        fetches.append(fetch)
    }

    private mutating func fetch(
        _ element: ModelElement, of owner: String, name: String, _ target: String, _ place: String
    ) -> ModelFetch {
        warnings.addUnsupported(element, .fetchRequest, place)
        for child in element.children { warnings.addUnsupported(child: child, place) }
        let limit = count(element, "fetchLimit", place)
        // Without the attribute `includeSubentities`, Core Data fetches objects of sub-entities, too.
        let includesSubentities = element["includeSubentities"] == nil || flag(element, "includeSubentities", place)
        return ModelFetch(
            owner: owner, name: name, place: place, target: target, predicate: text(element["predicateString"]),
            limit: limit == 0 ? nil : limit, includesSubentities: includesSubentities)
    }

    mutating func relationship(_ element: ModelElement, of entity: String) throws(CambiumError) -> RelationshipDefinition {
        let name = try name(of: element)
        let place = "\(entity).\(name)"
        guard let destination = text(element["destinationEntity"]) else {
            throw mistake(element, "The relationship '\(place)' has no destination. Set its destination in Xcode.")
        }
        var relationship = RelationshipDefinition(
            name, to: destination, cardinality(element, place), inverse: text(element["inverseName"]),
            onDelete: deleteRule(element, place))
        if relationship.inverse != nil, let inverseEntity = text(element["inverseEntity"]), inverseEntity != destination {
            warnings.add(place, "'inverseEntity' is ignored; the inverse is looked up in the destination, '\(destination)'")
        }
        if flag(element, "transient", place) {
            warnings.add(place, "the relationship is transient in Core Data; it is stored like any other relationship")
        }
        relationship.formerName = formerName(element, name)
        readCounts(element, &relationship, place)
        warnings.addUnsupported(element, .relationship, place)
        for child in element.children {
            if child.name == "userInfo" {
                readUserInfo(child, &relationship.userInfo, place)
            } else {
                warnings.addUnsupported(child: child, place)
            }
        }
        if let text = relationship.userInfo[Self.orphansKey] {
            if let rule = OrphanRule(rawValue: text) {
                relationship.orphanRule = rule
            } else {
                warnings.add(place, "the user info '\(Self.orphansKey)' is '\(text)' and is ignored; write 'delete' or 'keep'")
            }
        }
        return relationship
    }

    /// The key of the user info that states the rule for members that lose their last owner.
    private static let orphansKey = "orphans"

    private mutating func cardinality(_ element: ModelElement, _ place: String) -> RelationshipDefinition.Cardinality {
        let isOrdered = flag(element, "ordered", place)
        if flag(element, "toMany", place) { return isOrdered ? .orderedToMany : .toMany }
        if isOrdered { warnings.add(place, "'ordered' is ignored; the relationship is to-one") }
        return .toOne
    }

    /// Returns the delete rule of a relationship. If the model states no rule, the rule is Nullify, as in Core Data.
    private mutating func deleteRule(_ element: ModelElement, _ place: String) -> DeleteRule {
        switch text(element["deletionRule"]) {
        case "Nullify", nil: return .nullify
        case "Cascade": return .cascade
        case "Deny": return .deny
        case "No Action": return .noAction
        case let rule?:
            warnings.add(place, "the deletion rule '\(rule)' is unknown and is read as Nullify")
            return .nullify
        }
    }

    private mutating func readCounts(_ element: ModelElement, _ relationship: inout RelationshipDefinition, _ place: String) {
        let isOptional = flag(element, "optional", place)
        let least = count(element, "minCount", place) ?? 0
        if !isOptional {
            // In Core Data, the empty set is a value. So a mandatory to-many relationship without a minimum count can be empty.
            relationship.minCount = relationship.cardinality == .toOne ? 1 : least == 0 ? nil : least
        } else if least > 1 {
            // A minimum count of 1 needs no warning. In Core Data, an optional relationship with this minimum count can be empty, too.
            warnings.add(place, "'minCount' is ignored; the relationship is optional, so it may have any number of members")
        }
        let most = count(element, "maxCount", place) ?? 0
        if relationship.cardinality != .toOne {
            relationship.maxCount = most == 0 ? nil : most
        } else if most > 1 {
            warnings.add(place, "'maxCount' is ignored; the relationship is to-one")
        }
    }
}
