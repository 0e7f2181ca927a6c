/// A format of dates in rows.
///
/// ```swift
/// let born = PropertyMapping(.path("dob"), dates: [.secondsSince1970, .pattern("dd.MM.yyyy")])
/// options.mapping = ImportMapping(entity: "Person", attributes: ["born": born])
/// ```
public enum DateFormat: Sendable, Hashable {
    /// RFC 3339; the time of day, the seconds or the zone may be missing.
    case iso8601
    /// A number, or a text that contains a number.
    case secondsSince1970
    case millisecondsSince1970
    case secondsSince2001
    /// A pattern of letters for fields, such as `dd MMM yy HH:mm`; Docs/Use/IMPORT.md lists the letters.
    case pattern(String)

    /// Reads the text that a mapping contains: the name of a format, or a pattern.
    package init(_ text: String) {
        switch text {
        case "iso8601": self = .iso8601
        case "secondsSince1970": self = .secondsSince1970
        case "millisecondsSince1970": self = .millisecondsSince1970
        case "secondsSince2001": self = .secondsSince2001
        default: self = .pattern(text)
        }
    }

    package var text: String {
        switch self {
        case .iso8601: "iso8601"
        case .secondsSince1970: "secondsSince1970"
        case .millisecondsSince1970: "millisecondsSince1970"
        case .secondsSince2001: "secondsSince2001"
        case .pattern(let pattern): pattern
        }
    }
}
