internal import CambiumJSON
import CambiumModel

/// The keys of a row from which an import reads the properties of an entity: the names of the properties, or a mapping that was resolved
/// against the schema. Every row uses these tables.
///
/// The paths form a tree of keys. While a row is read, the value at the end of each path goes to a numbered slot. After that, a `Reading`
/// computes the value of each property from the slots.
final class ReadingPlan {
    /// A key in the tree of the mapping's paths. If paths end at the key, it leads to their slots. If longer paths continue after the key,
    /// it leads to a node.
    struct Key {
        var slots: [(slot: Int, isLiteral: Bool)] = []
        var node: Int?
    }

    /// The keys at one node in the tree of the mapping's paths. Without a mapping, the tree has only its root.
    final class Node {
        // Only one import at a time uses a plan, on one thread, so accesses to the table never overlap.
        @exclusivity(unchecked) var table: KeyTable
        /// The JSON pointer from the mapped object to the node.
        let pointer: String
        /// The keys on the path to the node, each with the delimiter after it. The report of an unknown key at the node begins with this
        /// text.
        let prefix: String
        /// The numbers of the slots whose paths go through this node. If an object has no JSON object at this node, no value can be found
        /// for these slots.
        let slots: [Int]

        init(table: KeyTable, pointer: String = "", prefix: String = "", slots: [Int] = []) {
            (self.table, self.pointer, self.prefix, self.slots) = (table, pointer, prefix, slots)
        }
    }

    struct Slot {
        let pointer: String
        let literalPointer: String
        let path: String
    }

    enum Source {
        case first([Int])
        case join([Int], separator: String)
        case constant(JSONValue)
    }

    struct Reading {
        let property: KeyTable.Target
        let source: Source
        let functions: [ValueFunction]
    }

    /// The functions and formats by which the values of an attribute are read. They also apply to references to objects that this
    /// attribute identifies.
    struct Conversion {
        let functions: [ValueFunction]
        let dates: DateReader?
        let numbers: NumberFormat?
    }

    let nodes: [Node]
    let keys: [Key]
    let slots: [Slot]
    /// The readings of attributes, then the readings of relationships, each in the order of the entity.
    let readings: [Reading]
    /// The conversion of each attribute; `nil` if the mapping has no rule for the attribute's values.
    let conversions: [Conversion?]

    init(nodes: [Node], keys: [Key], slots: [Slot], readings: [Reading], conversions: [Conversion?]) {
        self.nodes = nodes
        self.keys = keys
        self.slots = slots
        self.readings = readings
        self.conversions = conversions
    }

    /// Creates the plan that reads each property from the key with its name.
    convenience init(namesOf entity: Entity) {
        let attributes = entity.attributes.enumerated().filter { !$0.element.isDerived }
        let keys: [(String, KeyTable.Target)] =
            attributes.map { ($0.element.name, .attribute($0.offset)) }
            + entity.relationships.enumerated().map { ($0.element.name, .relationship($0.offset)) }
        let conversions = [Conversion?](repeating: nil, count: entity.attributes.count)
        self.init(nodes: [Node(table: KeyTable(keys))], keys: [], slots: [], readings: [], conversions: conversions)
    }
}

extension ReadingPlan.Conversion {
    /// Whether the conversion has a format for dates or for numbers.
    var hasFormat: Bool { dates != nil || numbers != nil }

    /// Reads a text or number in the date formats or the number format of the mapping, and returns the stored form of the result. Returns
    /// `nil` if the mapping has no format for the value; the caller then reads the value without a format.
    ///
    /// - Parameter scratch: takes the stored bytes if the result is `.scratch`. The method overwrites the earlier content of `scratch`.
    func form(
        _ bytes: UnsafeRawBufferPointer, _ isText: Bool, _ isNumber: Bool, _ type: AttributeType, scratch: inout [UInt8]
    ) throws(ConversionError) -> ScalarForm? {
        guard isText || isNumber else { return nil }
        if let dates {
            guard let seconds = dates.seconds(bytes, isNumber: isNumber) else {
                throw .unfit("no date format of the mapping matches \(Excerpt.quoted(String(decoding: bytes, as: UTF8.self)))")
            }
            return .fixed((seconds + 0).bitPattern, 0)
        }
        guard isText, let numbers else { return nil }
        guard let plain = numbers.plain(bytes) else {
            let found = Excerpt.quoted(String(decoding: bytes, as: UTF8.self))
            throw .unfit("expected \(type.wanted) in the format of the mapping (\(numbers.marks)), but found \(found)")
        }
        return try type.scalarForm(copying: plain, scratch: &scratch)
    }
}

extension AttributeType {
    /// Reads a JSON value in the date formats or the number format of a mapping, and returns the stored form of the result. The caller has
    /// already applied the functions of the mapping to the value.
    func scalarForm(
        _ value: JSONValue, _ conversion: ReadingPlan.Conversion?, scratch: inout [UInt8]
    ) throws(ConversionError) -> ScalarForm {
        guard let conversion else { return try scalarForm(value, scratch: &scratch) }
        let (text, isText): (String, Bool)
        switch value {
        case .string(let own): (text, isText) = (own, true)
        case .number(let own): (text, isText) = (own, false)
        default: return try scalarForm(value, scratch: &scratch)
        }
        let form = try Array(text.utf8).withUnsafeBytes { bytes -> Result<ScalarForm?, ConversionError> in
            Result { () throws(ConversionError) in try conversion.form(bytes, isText, !isText, self, scratch: &scratch) }
        }.get()
        if let form { return form }
        return try scalarForm(value, scratch: &scratch)
    }
}

extension [ValueFunction] {
    /// Applies these functions to a value, in order.
    func apply(_ value: JSONValue) throws(ConversionError) -> JSONValue {
        var value = value
        for function in self {
            do throws(ValueFunction.Mismatch) {
                value = try function.apply(value)
            } catch {
                throw .unfit(error.message)
            }
        }
        return value
    }
}

extension ReadingPlan.Conversion {
    /// The conversion of attributes for which a mapping has no rule.
    static let plain = ReadingPlan.Conversion(functions: [], dates: nil, numbers: nil)

    /// Applies the functions of the mapping to a JSON value, reads the result in the mapping's date or number format, and returns the
    /// attribute's value.
    func value(_ json: JSONValue, _ type: AttributeType) throws(ConversionError) -> Value {
        try converted(try functions.apply(json), type)
    }

    /// Reads a JSON value in the mapping's date or number format, and returns the attribute's value. The caller has already applied the
    /// functions of the mapping.
    func converted(_ json: JSONValue, _ type: AttributeType) throws(ConversionError) -> Value {
        var scratch: [UInt8] = []
        let form = try type.scalarForm(json, self, scratch: &scratch)
        return Value(form, UnsafeRawBufferPointer(start: nil, count: 0), scratch, type)
    }

    /// Returns a date in the first format that reads back as the same date, and a number in the number format. For any other value, or if
    /// no format fits, returns `plain`: the JSON that an export without a mapping writes for the value.
    func json(_ value: Value, _ plain: JSONValue) -> JSONValue {
        if let dates, case .date(let date) = value { return dates.json(date.timeIntervalSinceReferenceDate) ?? plain }
        if let numbers, case .number(let text) = plain { return .string(numbers.text(text)) }
        return plain
    }
}

extension Value {
    /// The value as JSON, in the form that exports write.
    var json: JSONValue {
        switch self {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .string(let text), .uri(let text): return .string(text)
        case .int, .float, .double, .decimal: return .number(text)
        case .data, .date, .uuid: return .string(text)
        // Stored JSON was parsed before it was stored, so parsing it again succeeds.
        case .json(let text): return (try? JSONValue(parsing: text.utf8)) ?? .null
        }
    }
}
