internal import CambiumModel
import Foundation

/// Derived attributes (attributes that the store computes). The reference graph computes their values again at each read.
extension ReferenceGraph {
    /// Returns the value of a property of an object.
    func value(_ property: PropertyNumber, of id: ObjectID) -> Value {
        guard let object = objects[id] else { return .null }
        if let attribute = object.entity.attribute(property), attribute.isDerived { return derivedValue(of: attribute, object, id) }
        return object.attributes[property] ?? .null
    }

    private func derivedValue(of attribute: Attribute, _ object: Object, _ id: ObjectID) -> Value {
        guard let derivation = attribute.derivation else { return .null }
        guard let relationship = derivation.relationship.flatMap({ object.entity.relationship($0) }) else {
            guard let source = derivation.attribute, case .string(let text)? = object.attributes[source] else { return .null }
            return .string(Self.folded(text))
        }
        let members = list(side(relationship), id)
        guard let source = derivation.attribute else { return .int(Int64(members.count)) }
        let values = members.compactMap { objects[$0]?.attributes[source] }.filter { !$0.isNull }
        switch derivation.function {
        case .min: return Self.extreme(values) { $0.precedes($1) }
        case .max: return Self.extreme(values) { $1.precedes($0) }
        default: return Self.sum(values, attribute.type)
        }
    }

    private static func extreme(_ values: [Value], _ isBetter: (Value, Value) -> Bool) -> Value {
        guard let best = values.first(where: { value in !values.contains { isBetter($0, value) } }) else { return .null }
        switch best {
        case .float(0): return .float(0)
        case .double(0): return .double(0)
        default: return best
        }
    }

    private static func sum(_ values: [Value], _ type: AttributeType) -> Value {
        if type == .int64 || type == .int32 {
            return .int(values.reduce(0) { if case .int(let number) = $1 { $0 &+ number } else { $0 } })
        }
        let numbers = values.compactMap { value -> Double? in
            switch value {
            case .float(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
        return .double(exactSum(numbers) + 0)
    }

    /// Returns the double that is nearest to the sum. The sum is kept as doubles of ascending magnitude whose bits do not overlap
    /// (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997).
    private static func exactSum(_ numbers: [Double]) -> Double {
        var parts: [Double] = []
        for number in numbers {
            var rest = number
            var kept: [Double] = []
            for part in parts {
                let (large, small) = rest.magnitude < part.magnitude ? (part, rest) : (rest, part)
                let sum = large + small
                let lost = small - (sum - large)
                if lost != 0 { kept.append(lost) }
                rest = sum
            }
            parts = kept + [rest]
        }
        var (total, lost) = (0.0, 0.0)
        while let part = parts.popLast() {
            let sum = total + part
            lost = part - (sum - total)
            total = sum
            if lost != 0 { break }
        }
        // If the lost part is exactly half of the last digit, the next part decides the direction of the rounding.
        if let next = parts.last, lost < 0 && next < 0 || lost > 0 && next > 0 {
            let doubled = total + 2 * lost
            if doubled - total == 2 * lost { return doubled }
        }
        return total
    }

    /// Whether a derived attribute is a sum of whole numbers that does not fit into the type of the attribute. A store refuses such a
    /// graph, whereas the reference wraps the sum around.
    package var hasOverflowingSum: Bool {
        objects.contains { id, object in
            object.entity.attributes.contains { attribute in
                guard attribute.isDerived, let derivation = attribute.derivation, derivation.function == .sum,
                    let source = derivation.attribute,
                    let relationship = derivation.relationship.flatMap({ object.entity.relationship($0) })
                else { return false }
                let sum = list(side(relationship), id).reduce(Int128(0)) { sum, member in
                    if case .int(let number)? = objects[member]?.attributes[source] { sum + Int128(number) } else { sum }
                }
                return attribute.type == .int32 ? Int32(exactly: sum) == nil : Int64(exactly: sum) == nil
            }
        }
    }

    private static func folded(_ text: String) -> String {
        let letters = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter { $0.properties.generalCategory != .nonspacingMark }
        return letters.map { scalar in
            guard scalar.properties.changesWhenCaseMapped else { return String(scalar) }
            if scalar == "ẞ" { return "ss" }
            return scalar.properties.uppercaseMapping.unicodeScalars.map(\.properties.lowercaseMapping).joined()
        }.joined()
    }

    /// Stores the current values of derived attributes, because a migration may turn them into ordinary attributes.
    mutating func storeDerived() {
        for (id, object) in objects {
            for attribute in object.entity.attributes where attribute.isDerived {
                let value = derivedValue(of: attribute, object, id)
                objects[id]?.attributes[attribute.number] = value
            }
        }
    }
}
