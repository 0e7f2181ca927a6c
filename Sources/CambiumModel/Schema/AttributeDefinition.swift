internal import CambiumBytes
package import CambiumJSON

/// An attribute of a schema definition.
///
/// ```swift
/// AttributeDefinition("size", .int32, .optional, default: 3, min: 0, max: 10)
/// ```
public struct AttributeDefinition: PropertyDefinition, Hashable {
    /// Whether an object of the entity must have a value.
    public enum Presence: Sendable, Hashable { case mandatory, optional }

    package var name: String
    package var type: AttributeType
    package var presence: Presence
    /// The default. Both `nil` and a JSON null mean that there is no default.
    package var defaultValue: JSONValue?
    /// The least value that a number or a date may have.
    package var min: JSONValue?
    /// The greatest value that a number or a date may have.
    package var max: JSONValue?
    /// The minimum length: in Unicode scalars for text, in bytes for data.
    package var minLength: Int?
    /// The maximum length: in Unicode scalars for text, in bytes for data.
    package var maxLength: Int?
    /// A regular expression that must match the whole text, in RE2 syntax.
    package var regex: String?
    /// The values that are allowed, or `nil` if all values are allowed.
    package var allowed: [JSONValue]?
    package var isTransient = false
    /// The expression by which the store computes the value; `nil` if users set the value.
    package var derivation: Derivation?
    package var userInfo: [String: String] = [:]
    /// The attribute's name in an earlier version of the schema.
    package var formerName: String?
    package var number: UInt16?

    /// Creates a definition. `Schema.init` checks the definition.
    ///
    /// Ends the process if a `Value.json` among the parameters is not JSON.
    ///
    /// - Parameters:
    ///   - defaultValue: The value that a new object has if none is assigned. `nil` means no default.
    ///   - min: The least value of a number or a date.
    ///   - max: The greatest value of a number or a date.
    ///   - minLength: The minimum length: in Unicode scalars for text, in bytes for data.
    ///   - maxLength: The maximum length: in Unicode scalars for text, in bytes for data.
    ///   - regex: A regular expression that must match the whole text, in RE2 syntax.
    ///   - allowed: The only values that are allowed. `nil` allows all values.
    ///   - derived: The expression by which the store computes the value. Transactions cannot set a derived attribute.
    ///   - renamedFrom: The attribute's name in the schema that a migration replaces.
    public init(
        _ name: String, _ type: AttributeType, _ presence: Presence = .mandatory, default defaultValue: Value? = nil, min: Value? = nil,
        max: Value? = nil, minLength: Int? = nil, maxLength: Int? = nil, regex: String? = nil, allowed: [Value]? = nil,
        derived: Derivation? = nil, userInfo: [String: String] = [:], renamedFrom: String? = nil
    ) {
        self.name = name
        self.type = type
        self.presence = presence
        self.defaultValue = defaultValue.map { JSONValue($0) }
        self.min = min.map { JSONValue($0) }
        self.max = max.map { JSONValue($0) }
        self.minLength = minLength
        self.maxLength = maxLength
        self.regex = regex
        self.allowed = allowed?.map { JSONValue($0) }
        derivation = derived
        self.userInfo = userInfo
        formerName = renamedFrom
    }
}

extension AttributeDefinition {
    /// Sets the default. Ends the process if the value is a `Value.json` that is not JSON.
    package mutating func setDefault(_ value: Value) { defaultValue = value.isNull ? nil : JSONValue(value) }

    /// Sets the least value of numbers and dates.
    package mutating func setMin(_ value: Value) { min = JSONValue(value) }

    /// Sets the greatest value of numbers and dates.
    package mutating func setMax(_ value: Value) { max = JSONValue(value) }
}

extension JSONValue {
    /// Creates the JSON form of a value. Ends the process if the value is a `Value.json` that is not JSON.
    fileprivate init(_ value: Value) {
        var writer = JSONWriter()
        switch value {
        case .float(let number) where !number.isFinite: self = .number(number.description)
        case .double(let number) where !number.isFinite: self = .number(number.description)
        default:
            value.write(to: &writer)
            do { self = try JSONValue(parsing: writer.bytes) } catch {
                Trap.because("A definition of an attribute has a value that is not JSON. Correct the value. The cause: \(error)")
            }
        }
    }
}
