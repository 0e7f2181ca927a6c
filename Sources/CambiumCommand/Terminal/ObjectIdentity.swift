import Cambium
import CambiumJSON

/// The identity of an object as text, in an argument or at the prompt: an entity and a text for each value of its identity. A relationship
/// of the identity has the values of its target's identity, so `Comment:CORE,17,3` is the third comment of the issue `CORE,17`.
struct ObjectIdentity {
    let entity: Entity
    let texts: [String]

    /// The forms of an object in arguments, for help texts.
    static let forms = "an id such as Note/42, or an identity such as Note:7"

    /// Parses an argument such as `Issue:CORE,17`. The values are separated by commas. If the identity has one value, a comma is part of
    /// it. A value may be quoted as in a CSV file: `Issue:"a,b",17`.
    ///
    /// Returns `nil` if the text has no colon, or has a slash before the colon. Throws `.unknownName` if the schema has no such entity.
    init?(parsing text: String, _ schema: Schema) throws(CambiumError) {
        guard let colon = text.unicodeScalars.firstIndex(of: ":") else { return nil }
        let name = String(text.unicodeScalars[..<colon])
        if name.isEmpty || name.contains("/") { return nil }
        let entity = try schema.required(name)
        let values = String(text.unicodeScalars[text.unicodeScalars.index(after: colon)...])
        self.init(entity, Self.texts(values, isSingle: entity.identityValues.count == 1))
    }

    init(_ entity: Entity, _ texts: [String]) { (self.entity, self.texts) = (entity, texts) }

    /// Splits the text after the colon.
    private static func texts(_ text: String, isSingle: Bool) -> [String] {
        let scalars = Array(text.unicodeScalars)
        if scalars.isEmpty { return [] }
        var (texts, index) = ([String](), 0)
        while index <= scalars.count {
            var value = String.UnicodeScalarView()
            if index < scalars.count, scalars[index] == "\"", let end = endOfQuoted(scalars, index) {
                value.append(contentsOf: scalars[index + 1..<end])
                texts.append(String(value).replacing("\"\"", with: "\""))
                index = end + 2
            } else {
                while index < scalars.count, isSingle || scalars[index] != "," {
                    value.append(scalars[index])
                    index += 1
                }
                texts.append(String(value))
                index += 1
            }
        }
        return texts
    }

    /// Returns the index of the quotation mark that closes a quoted value, if a comma or the end of the text follows it.
    private static func endOfQuoted(_ scalars: [Unicode.Scalar], _ start: Int) -> Int? {
        var index = start + 1
        while index < scalars.count {
            if scalars[index] != "\"" {
                index += 1
            } else if index + 1 < scalars.count, scalars[index + 1] == "\"" {
                index += 2
            } else {
                return index + 1 == scalars.count || scalars[index + 1] == "," ? index : nil
            }
        }
        return nil
    }

    /// Splits a list of ids and identities at its commas. A comma between the values of one identity does not separate objects.
    static func split(_ list: String, _ schema: Schema) -> [String] {
        var (texts, missingCount) = ([String](), 0)
        for part in list.split(separator: ",", omittingEmptySubsequences: false) {
            if missingCount > 0, let last = texts.popLast() {
                texts.append("\(last),\(part)")
                missingCount -= 1
                continue
            }
            let text = NameList.trimmed(part)
            texts.append(text)
            let name = text.prefix { $0 != ":" }
            if name.count < text.count { missingCount = max(1, schema.entity(String(name))?.identityValues.count ?? 1) - 1 }
        }
        return texts
    }

    // MARK: Finding

    /// Returns the place of the object. Throws `.notFound` if there is no such object.
    func place(in graph: Graph) throws(CambiumError) -> ObjectPlace {
        if let mistake = mistake(in: "text") { throw CambiumError(.invalidInput, "\(mistake) \(remedy)") }
        let values = try values()
        guard let place = graph.place(entity, identity: values) else {
            let identity = Excerpt.plain(texts.joined(separator: ","))
            throw CambiumError(
                .notFound,
                "There is no '\(entity.name)' with the identity \(identity). 'cambium find STORE \(entity.name)' lists the objects, and "
                    + "'cambium history STORE \(entity.name):\(identity)' shows a deleted one.")
        }
        return place
    }

    /// Converts the texts to the types of the identity's values.
    func values() throws(CambiumError) -> [Value] {
        var values: [Value] = []
        for (text, wanted) in zip(texts, entity.identityValues) { values.append(try Self.value(text, wanted)) }
        return values
    }

    /// Converts the text of one value of an identity.
    static func value(_ text: String, _ wanted: IdentityValue) throws(CambiumError) -> Value {
        do throws(ConversionError) {
            return try Value(written: text, type: wanted.type)
        } catch {
            throw CambiumError(.invalidInput, "'\(wanted.name)': \(error.message).")
        }
    }

    /// Returns a sentence that says why this number of values cannot identify an object of the entity; `nil` if the number is right.
    ///
    /// - Parameter place: The noun for the text that the user wrote.
    func mistake(in place: String) -> String? {
        let count = entity.identityValues.count
        if texts.count == count, !texts.isEmpty { return nil }
        if texts.isEmpty { return "'\(entity.name)' alone does not name an object." }
        if entity.identity.isEmpty { return "'\(entity.name)' has no identity, so no value names its objects." }
        return "The identity of '\(entity.name)' has \(Readable.of(count, "value")), but the \(place) has \(texts.count)."
    }

    private var remedy: String {
        let names = entity.identityValues.map(\.name).joined(separator: ",")
        return names.isEmpty ? "Write an id, such as '\(entity.name)/1'." : "Write '\(entity.name):' and a value for each of: \(names)."
    }
}
