import CambiumGraph
import CambiumModel

/// An entity with everything resolved that importing its objects needs.
final class ImportEntity {
    struct Link {
        let relationship: Relationship
        let handle: EndHandle
    }

    let entity: Entity
    let table: ImportTable
    let attributes: [Attribute]
    let links: [Link]
    /// The places of the identity attributes in `attributes`.
    let identity: [Int]
    var keys: KeyTable
    private var stamps: [Int]
    private var stamp = 0

    init(_ entity: Entity, _ draft: borrowing Draft) throws(CambiumError) {
        self.entity = entity
        table = try draft.importTable(entity)
        attributes = entity.attributes
        var links: [Link] = []
        for relationship in entity.relationships {
            links.append(Link(relationship: relationship, handle: draft.importEnd(relationship)))
        }
        self.links = links
        identity = entity.identity.compactMap { part in entity.attributes.firstIndex { $0 === part } }
        keys = KeyTable(
            entity.attributes.enumerated().map { ($0.element.name, .attribute($0.offset)) }
                + entity.relationships.enumerated().map { ($0.element.name, .relationship($0.offset)) })
        stamps = [Int](repeating: 0, count: entity.attributes.count + entity.relationships.count)
    }

    // MARK: Which properties an object was given

    func beginObject() { stamp += 1 }
    func markAttribute(_ index: Int) { stamps[index] = stamp }
    func unmarkAttribute(_ index: Int) { stamps[index] = 0 }
    func isGivenAttribute(_ index: Int) -> Bool { stamps[index] == stamp }
    func markLink(_ index: Int) { stamps[attributes.count + index] = stamp }
    func isGivenLink(_ index: Int) -> Bool { stamps[attributes.count + index] == stamp }
}

/// The entities of a schema, resolved for one draft.
struct ImportEntities {
    private var byNumber: [EntityNumber: ImportEntity] = [:]
    private var byName: [String: ImportEntity] = [:]

    init(_ draft: borrowing Draft) throws(CambiumError) {
        for entity in draft.schema.entities {
            let made = try ImportEntity(entity, draft)
            byNumber[entity.number] = made
            byName[entity.name] = made
        }
    }

    subscript(_ number: EntityNumber) -> ImportEntity? { byNumber[number] }
    subscript(_ name: String) -> ImportEntity? { byName[name] }
}
