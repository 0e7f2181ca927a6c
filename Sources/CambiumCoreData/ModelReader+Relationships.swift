internal import CambiumModel

extension ModelReader {
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
