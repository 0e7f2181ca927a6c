import Cambium
import CambiumTesting

/// A mapping that can be reversed for every value, over a schema whose objects all have an identity.
struct RandomMapping {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed &* 31) }

    mutating func mapping(of schema: Schema, for entity: Entity) -> ImportMapping {
        var mapping = ImportMapping(entity: entity.name, objects: objects(entity))
        for other in schema.entities where other !== entity && random.isTrue(2, outOf: 3) { mapping.nested[other.name] = objects(other) }
        return mapping
    }

    private mutating func objects(_ entity: Entity) -> ObjectMapping {
        var objects = ObjectMapping()
        objects.delimiter = random.pick([".", "->", "/"]) ?? "."
        for attribute in entity.attributes where random.isTrue(2, outOf: 3) {
            objects.attributes[attribute.name] = rule(attribute, objects)
        }
        for relationship in entity.relationships where random.isTrue(1, outOf: 2) {
            objects.relationships[relationship.name] = PropertyMapping(.path(path(relationship.name, objects)))
        }
        if random.isTrue(1, outOf: 4) { objects.entityFrom = Discriminator(key: path("kind", objects), map: ["x": entity.name]) }
        return objects
    }

    /// Returns a path. None of its keys is the name of a property, so paths do not conflict with each other.
    private mutating func path(_ name: String, _ objects: ObjectMapping) -> String {
        let keys = random.pick([[], ["o1"], ["o1", "o2"], ["o3\(objects.escape)\(objects.delimiter)"]]) ?? []
        return (keys + ["\(name)Key"]).joined(separator: objects.delimiter)
    }

    private mutating func rule(_ attribute: Attribute, _ objects: ObjectMapping) -> PropertyMapping {
        let path = path(attribute.name, objects)
        var rule = PropertyMapping(.path(path))
        switch attribute.type {
        case .date:
            rule.dates = Array(
                [.pattern("dd MMM yy HH:mm"), .secondsSince1970, .pattern("y-M-d H:m:s.S Z"), .iso8601].shuffled(using: &random))
            rule.zone = random.pick(["UTC", "+05:30", "-11:00"]) ?? "UTC"
        case .int16, .int32, .int64, .float, .double, .decimal:
            rule.numbers = random.pick([NumberFormat(decimal: ",", grouping: "."), NumberFormat(grouping: " "), nil]) ?? nil
            if attribute.type == .int64, rule.numbers == nil { rule.functions = [.integer] }
        case .string:
            switch Int.random(in: 0..<4, using: &random) {
            case 0: rule.source = .join([path, path + "2", path + "3"], separator: random.pick([" ", "a", "-"]) ?? " ")
            case 1: rule.functions = [.text]
            case 2: rule.functions = [.join(random.pick(["", ",", "\""]) ?? ",")]
            default: rule.source = .coalesce([path, path + "2"])
            }
        case .bool: rule.functions = [.lookup(["y": .bool(true), "n": .bool(false), "no": .bool(false)])]
        default: break
        }
        return rule
    }
}
