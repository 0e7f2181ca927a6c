public import CambiumJSON

/// The place of an attribute's or relationship's value in the JSON of an object, and the way in which an import reads the value.
///
/// ```swift
/// let born = PropertyMapping(.path("dob"), dates: [.iso8601, .pattern("dd MMM yy HH:mm")], zone: "+01:00")
/// let name: PropertyMapping = "name.full"
/// ```
public struct PropertyMapping: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The source of a property's values.
    public enum Source: Sendable, Hashable {
        /// The key with the property's name.
        case name
        case path(String)
        /// The first of these paths that leads to a value other than null.
        case coalesce([String])
        /// The texts at these paths, joined.
        case join([String], separator: String)
        case constant(JSONValue)
        /// The property is not read.
        case nothing

        /// The paths from which this source reads; empty if it reads no path.
        var paths: [String] {
            switch self {
            case .path(let path): [path]
            case .coalesce(let paths), .join(let paths, _): paths
            case .name, .constant, .nothing: []
            }
        }
    }

    package var source: Source
    /// The functions that are applied in this order, before dates and numbers are read.
    package var functions: [ValueFunction]
    /// The formats of dates, tried in this order; RFC 3339 if the list is empty.
    package var dates: [DateFormat]
    /// The zone of dates that state no zone: `UTC`, `GMT`, or an offset such as `+01:00`.
    package var zone: String
    /// The first of the hundred years that a year of two digits can mean.
    package var pivot: Int
    /// The format of numbers in texts; `nil` if texts are not read as numbers.
    package var numbers: NumberFormat?

    var isConstant: Bool { if case .constant = source { true } else { false } }
    /// Whether a function splits texts at a separator.
    var splitsTexts: Bool { functions.contains(where: \.isSplit) }

    package static let standardSeparator = " "
    @usableFromInline package static let standardZone = "UTC"
    @usableFromInline package static let standardPivot = 1950
    static let pivotRange = 1...9900
    static let pivotRule = "expected a year from 1 to 9900"

    /// Creates the rule for a property. The rule is checked when an import begins.
    ///
    /// - Parameters:
    ///   - source: The source of the values.
    ///   - functions: The functions that are applied in this order, before dates and numbers are read.
    ///   - dates: The formats of dates, tried in this order; RFC 3339 if the list is empty.
    ///   - zone: The zone of dates that state no zone: `UTC`, `GMT`, or an offset such as `+01:00`.
    ///   - pivot: The first of the hundred years that a year of two digits can mean.
    ///   - numbers: The format of numbers in texts; `nil` if texts are not read as numbers.
    public init(
        _ source: Source = .name, functions: [ValueFunction] = [], dates: [DateFormat] = [], zone: String = Self.standardZone,
        pivot: Int = Self.standardPivot, numbers: NumberFormat? = nil
    ) {
        self.source = source
        self.functions = functions
        self.dates = dates
        self.zone = zone
        self.pivot = pivot
        self.numbers = numbers
    }

    public init(stringLiteral path: String) { self.init(.path(path)) }
}
