internal import CambiumJSON
internal import FoundationEssentials

/// The requirements that a schema has for the values of an attribute, in addition to their type.
package struct AttributeConstraints: Sendable {
    /// The minimum, as a value of the attribute's type; `nil` if there is no minimum.
    package let min: Value?
    /// The maximum, as a value of the attribute's type; `nil` if there is no maximum.
    package let max: Value?
    /// The minimum length: in Unicode scalars for text, in bytes for data.
    package let minLength: Int?
    /// The maximum length: in Unicode scalars for text, in bytes for data.
    package let maxLength: Int?
    package let regex: LinearRegex?
    /// The values that are allowed, or `nil` if all values are allowed.
    package let allowed: [Value]?
    private let allowedValues: Set<Value>
    /// Whether there is no constraint to check.
    package let isEmpty: Bool

    package init(
        min: Value? = nil, max: Value? = nil, minLength: Int? = nil, maxLength: Int? = nil, regex: LinearRegex? = nil,
        allowed: [Value]? = nil
    ) {
        self.min = min
        self.max = max
        self.minLength = minLength
        self.maxLength = maxLength
        self.regex = regex
        self.allowed = allowed
        allowedValues = Set((allowed ?? []).map(\.withoutNegativeZero))
        isEmpty = min == nil && max == nil && minLength == nil && maxLength == nil && regex == nil && allowed == nil
    }

    /// Returns how a value violates a constraint, or `nil` if the value is valid. The result is the end of a sentence that begins with the
    /// name of the attribute. Null is always valid here, because another rule decides whether a value may be missing. Complexity: O(bytes
    /// of the value).
    package func check(_ value: Value) -> String? {
        if let flaw = Self.flaw(of: value) { return flaw }
        if isEmpty || value.isNull { return nil }
        if let min, value.precedes(min) { return "is \(Excerpt.plain(value.text)), but the minimum is \(min.text)" }
        if let max, max.precedes(value) { return "is \(Excerpt.plain(value.text)), but the maximum is \(max.text)" }
        if minLength != nil || maxLength != nil, let length = value.length {
            let text = "is \(Excerpt.quoted(value.text)), which has a length of \(length)"
            if let minLength, length < minLength { return text + ", but the minimum length is \(minLength)" }
            if let maxLength, length > maxLength { return text + ", but the maximum length is \(maxLength)" }
        }
        if let regex, let text = value.plainText, !regex.matchesWhole(text) {
            return "is \(Excerpt.quoted(text)), which does not match \(regex.pattern)"
        }
        if let list = allowedList(without: value) { return "is \(value.excerpt), which is not one of \(list)" }
        return nil
    }

    /// Returns the allowed values as a text for a message, or `nil` if the given value is allowed.
    package func allowedList(without value: Value) -> String? {
        guard let allowed, !allowedValues.contains(value.withoutNegativeZero) else { return nil }
        let shown = allowed.prefix(Self.shownCountMax).map(\.excerpt).joined(separator: ", ")
        let rest = allowed.count - Self.shownCountMax
        return shown + (rest > 0 ? " and \(rest) more" : "")
    }

    /// The maximum number of allowed values that a message lists.
    private static let shownCountMax = 50

    /// Returns the reason why no attribute can hold the value, or `nil` if an attribute can. For example, an infinite number could not be
    /// written as JSON and read back.
    private static func flaw(of value: Value) -> String? {
        switch value {
        case .double(let value) where !value.isFinite: "is \(value), which is not a finite number"
        case .float(let value) where !value.isFinite: "is \(value), which is not a finite number"
        case .date(let date) where !DateText.range.contains(date.timeIntervalSinceReferenceDate):
            "is \(date.timeIntervalSinceReferenceDate) seconds after 2001-01-01, which is not a date in the years 1 to 9999"
        case .uri(let text) where !AttributeType.isURI(text.utf8): "is \(Excerpt.quoted(text)), which is not a URI"
        case .json("null"): "is null in JSON, which is read back as a missing value"
        default: nil
        }
    }
}

extension Value {
    /// The value as a message shows it. A text is in quotation marks, because the text may be empty or contain a comma.
    fileprivate var excerpt: String { plainText.map(Excerpt.quoted) ?? Excerpt.plain(text) }

    /// The value, or 0.0 if the value is -0.0. The two zeros are equal as numbers, but their bits differ.
    package var withoutNegativeZero: Value {
        switch self {
        case .float(let value) where value == 0: .float(0)
        case .double(let value) where value == 0: .double(0)
        case .date(let value) where value.timeIntervalSinceReferenceDate == 0: .date(Date(timeIntervalSinceReferenceDate: 0))
        default: self
        }
    }

    /// The length to which `minLength` and `maxLength` apply.
    var length: Int? {
        switch self {
        case .string(let text), .uri(let text): text.unicodeScalars.count
        case .data(let bytes): bytes.count
        default: nil
        }
    }

    /// The text of a string or URI; `nil` for other values.
    package var plainText: String? {
        switch self {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }

    /// Whether the value precedes another value of the same kind. Text is compared by its bytes.
    package func precedes(_ other: Value) -> Bool {
        switch (self, other) {
        case (.bool(let left), .bool(let right)): !left && right
        case (.int(let left), .int(let right)): left < right
        case (.float(let left), .float(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.decimal(let left), .decimal(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        case (.string(let left), .string(let right)), (.uri(let left), .uri(let right)), (.json(let left), .json(let right)):
            left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
        case (.uuid(let left), .uuid(let right)): left.uuidString < right.uuidString
        default: false
        }
    }
}
