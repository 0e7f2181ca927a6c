internal import CambiumModel

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
}
