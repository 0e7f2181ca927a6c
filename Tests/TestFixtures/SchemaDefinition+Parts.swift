import Cambium

extension SchemaDefinition {
    /// Returns the definition of the notes' schema with a change.
    package static func notes(_ change: (inout SchemaDefinition) -> Void) -> SchemaDefinition {
        var definition = Notes.schema.definition
        change(&definition)
        return definition
    }

    package subscript(_ entity: String) -> EntityDefinition {
        get { entities.first { $0.name == entity } ?? EntityDefinition(entity) }
        set {
            if let place = entities.firstIndex(where: { $0.name == entity }) {
                entities[place] = newValue
            } else {
                entities.append(newValue)
            }
        }
    }
}

extension EntityDefinition {
    package subscript(attribute name: String) -> AttributeDefinition {
        get { attributes.first { $0.name == name } ?? AttributeDefinition(name, .string) }
        set {
            if let place = attributes.firstIndex(where: { $0.name == name }) {
                attributes[place] = newValue
            } else {
                attributes.append(newValue)
            }
        }
    }

    package subscript(relationship name: String) -> RelationshipDefinition {
        get { relationships.first { $0.name == name } ?? RelationshipDefinition(name, to: "") }
        set {
            if let place = relationships.firstIndex(where: { $0.name == name }) {
                relationships[place] = newValue
            } else {
                relationships.append(newValue)
            }
        }
    }

    package mutating func remove(_ property: String) {
        attributes.removeAll { $0.name == property }
        relationships.removeAll { $0.name == property }
    }
}
