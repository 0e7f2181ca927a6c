internal import CambiumBytes
import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// Reads the objects that rows describe or refer to, and the values of each object, into a batch. The reader never uses the graph.
struct RowReader {
    let options: RowRules
    let entities: RowEntities
    /// The imported entity, to which the rules at the top of a mapping belong.
    let target: EntityNumber
    private let hashNumbers: OwnedHashNumbers
    var batch = RowBatch()
    /// The objects whose entity was wrongly assumed when the row was read earlier. The keys are the tokens of the objects, and the values
    /// are their real entities. A real entity takes precedence over the entity that the row names.
    var readAs: [Int: EntityNumber] = [:]
    /// Whether an object of the row may belong to an entity other than the one that the reader assumed.
    private(set) var isUncertain = false
    var path = RowPath()
    /// The members of the relationships that are being read.
    var pending: [RowBatch.Member] = []
    /// The relationships that occur in the objects that are being read. The relationships of a nested object follow the relationships of
    /// the object that contains it.
    var given: [Given] = []
    var scratch: [UInt8] = []
    /// For each path of the mapping, the value at the end of the path in the object that is being read. The index is the number of the
    /// path's slot.
    var found: [Finding] = []
    /// Whether the reader skipped a member of the current relationship because its type is wrong.
    var isMismatched = false
    /// The failure of the first unknown key in the object that is being read, if a sub-entity of the assumed entity may have the key.
    var unknownKey: RowFailure?
    /// The members that a mapping computed or found for relationships.
    var mapped: [MappedMembers] = []
    /// The declared entity of the object that is being read: the imported entity, or the destination of the relationship that contains the
    /// object.
    private(set) var declared: EntityNumber
    /// The token of the discriminator, the key whose value names the entity of the object that is being read. Negative if the object has no
    /// such key. Even if the discriminator maps to no property, it does not count as an unknown key.
    private(set) var discriminatorKey = -1
    /// Whether a text may be read as a value of another type. `true` if a mapping reads a CSV record, because CSV contains only texts.
    private(set) var readsTexts = false
    /// Whether the row is a CSV record.
    private(set) var isRecord = false
    private let isMapped: Bool
    /// The texts that have occurred as discriminators so far, each with the entity that the text names.
    private var knownTexts: [(declared: EntityNumber, text: [UInt8], entity: EntityNumber)] = []
    private var lastKnown = 0

    /// A relationship in an object, and the position of its value.
    struct Given {
        let index: Int
        /// The token of the key; an index into `mapped` if `value` is negative.
        let key: Int
        let value: Int
    }

    /// - Parameters:
    ///   - schema: the schema of the store that imports the rows.
    ///   - hashNumbers: the numbers for hashes of the store's graph.
    init(
        _ options: ImportOptions, _ schema: Schema, _ resolver: MappingResolver, importing entity: Entity, hashNumbers: OwnedHashNumbers
    ) throws(CambiumError) {
        self.hashNumbers = hashNumbers
        self.options = RowRules(options)
        entities = try RowEntities(schema, resolver)
        guard schema.entity(entity.number) != nil else {
            throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'. Use an entity of the store's schema.")
        }
        target = entity.number
        isMapped = options.mapping != nil
        declared = entity.number
    }

    /// Sets whether the next rows come from CSV records.
    mutating func row(isRecord: Bool) {
        self.isRecord = isRecord
        readsTexts = isMapped && isRecord
    }

    /// Reads a row as an object of the imported entity, or of the entity that the row names.
    mutating func read(_ tokens: JSONTokens, _ row: inout RowBatch.Row) {
        path.removeAll()
        if !pending.isEmpty { pending.removeAll(keepingCapacity: true) }
        if !given.isEmpty { given.removeAll(keepingCapacity: true) }
        if !mapped.isEmpty { mapped.removeAll(keepingCapacity: true) }
        isUncertain = false
        row.object = Int32(batch.objects.count)
        guard tokens.kind(0) == .object else {
            let given = Excerpt.described(JSONValue(tokens, 0))
            let remedy = tokens.kind(0) == .array ? ". If its elements are the rows, name their place, such as --rows '/*'" : ""
            let message = "the row is \(given), but must be an object\(remedy)"
            row.failure = batch.track(RowFailure(code: .notAnObject, pointer: "", message: message))
            return
        }
        let firstKey = batch.keys.count
        _ = object(0, target, tokens)
        row.keys = .init(firstKey..<batch.keys.count)
        if let failure = envelope(Int(row.object), tokens) { row.failure = batch.track(failure) }
    }

    func failure(_ code: ImportReport.RowError.Code, _ tokens: JSONTokens, key: Int? = nil, _ message: String) -> RowFailure {
        RowFailure(code: code, pointer: path.pointer(tokens, key: key), message: message)
    }

    // MARK: Objects

    /// Reads an object that a row describes, and returns its index in the batch.
    mutating func object(_ token: Int, _ declared: EntityNumber, _ tokens: JSONTokens) -> Int {
        let place = batch.objects.count
        batch.objects.append(RowBatch.Object(token: Int32(token), entity: declared))
        do throws(RowFailure) {
            guard path.depth <= RowPlanner.depthMax else {
                throw failure(.tooDeep, tokens, "objects nest more than \(RowPlanner.depthMax) levels deep")
            }
            let number = try entity(of: token, declared, tokens)
            self.declared = declared
            try entities[number].with { entity throws(RowFailure) in try read(place, token, entity, tokens) }
        } catch {
            batch.objects[place].failure = batch.track(error)
        }
        return place
    }

    @inline(__always)
    private mutating func read(_ place: Int, _ token: Int, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure) {
        if !entity.isAlone { isUncertain = true }
        let (firstValue, firstUnknown, firstGiven) = (batch.values.count, batch.unknownKeys.count, given.count)
        let failure: RowFailure?
        do throws(RowFailure) {
            try values(of: token, entity, tokens)
            failure = unknownKey
            batch.objects[place].hasUnknownKey = failure != nil
        } catch { failure = error }
        if unknownKey != nil { unknownKey = nil }
        batch.objects[place].entity = entity.number
        batch.objects[place].values = .init(firstValue..<batch.values.count)
        // The import also reports the unknown keys that precede the failure in the object.
        if firstUnknown < batch.unknownKeys.count {
            batch.objects[place].unknownKeys = .init(firstUnknown..<batch.unknownKeys.count)
        }
        trackKey(of: entity, firstValue)
        // Only the owner of an object whose identity contains a relationship can tell whether a sub-entity has the unknown key.
        if let failure, !entity.isOwned || !batch.objects[place].hasUnknownKey {
            given.removeFew(downTo: firstGiven)
            throw failure
        }
        try readLinks(place, firstGiven, entity, tokens)
        if let failure { throw failure }
    }

    @inline(__always)
    private mutating func readLinks(_ place: Int, _ firstGiven: Int, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure) {
        let (firstLink, linkCount) = (batch.links.count, given.count - firstGiven)
        if linkCount == 0 { return }
        if linkCount > 1 { orderLinks(from: firstGiven) }
        // Nested objects add their own links, and the links of one object must be adjacent. So this object reserves its links before its
        // members are read.
        for number in 0..<linkCount { batch.links.append(RowBatch.Link(index: UInt16(given[firstGiven + number].index))) }
        for number in 0..<linkCount { batch.links[firstLink + number] = link(given[firstGiven + number], entity, tokens) }
        batch.objects[place].links = .init(firstLink..<firstLink + linkCount)
        given.removeFew(downTo: firstGiven)
    }

    /// Puts the relationships of an object into the order of the schema, so that the order of the keys does not affect the result of the
    /// row. If an object repeats a key, the occurrences keep their order.
    private mutating func orderLinks(from first: Int) {
        for end in first + 1..<given.count where given[end].index < given[end - 1].index {
            return given[first...].sort { ($0.index, $0.value) < ($1.index, $1.value) }
        }
    }

    /// Returns the entity of an object, and records the token of the key that names the entity.
    private mutating func entity(
        of token: Int, _ declared: EntityNumber, _ tokens: JSONTokens
    ) throws(RowFailure) -> EntityNumber {
        let found = entities[declared].with { $0.discriminatorValue(in: token, tokens) }
        discriminatorKey = found.map { $0 - 1 } ?? -1
        if !readAs.isEmpty, let number = readAs[token] { return number }
        guard let found else { return declared }
        let isText = tokens.kind(found) == .string
        let number: EntityNumber
        if isText, let known = knownPlace(tokens.bytes(found), declared) {
            lastKnown = known
            number = knownTexts[known].entity
        } else {
            // An empty CSV field is read as null, but means an empty text here.
            let text: String? = isText ? tokens.string(found) : isRecord && tokens.kind(found) == .null ? "" : nil
            number = try self.entity(named: text, found, entities[declared].counted, tokens)
        }
        if path.depth > 0, number != declared {
            let (above, below) = (entities[declared].counted.entity, entities[number].counted.entity)
            guard above.family.contains(number) else {
                let pointer = discriminatorPointer(found, entities[declared].counted, tokens)
                throw RowFailure(
                    code: .unknownEntity, pointer: pointer,
                    message: "'\(below.name)' is not a sub-entity of '\(above.name)'; name '\(above.name)' or a sub-entity of it")
            }
        }
        return number
    }

    /// Returns the index in `knownTexts` of a text that names an entity; `nil` if the text has not occurred yet. The search begins with the
    /// last text, because rows of one entity usually follow each other.
    private func knownPlace(_ text: UnsafeRawBufferPointer, _ declared: EntityNumber) -> Int? {
        var place = lastKnown
        for _ in knownTexts.indices {
            if knownTexts[place].declared == declared, ByteSearch.equals(knownTexts[place].text, text) { return place }
            place = place + 1 < knownTexts.count ? place + 1 : 0
        }
        return nil
    }

    private mutating func entity(
        named text: String?, _ found: Int, _ declared: RowEntity, _ tokens: JSONTokens
    ) throws(RowFailure) -> EntityNumber {
        let name = text.map { CanonicalText.ordered($0) }
        guard let text, let name, let number = entities[declared.discriminator?.map[name] ?? name] else {
            let key = declared.discriminator?.key ?? ""
            throw RowFailure(
                code: .unknownEntity, pointer: discriminatorPointer(found, declared, tokens),
                message: "'\(key)' is \(Excerpt.described(JSONValue(tokens, found))), which does not name an entity")
        }
        knownTexts.append((declared.number, Array(text.utf8), number))
        return number
    }

    /// Returns the JSON pointer to the value that names the entity of an object.
    private func discriminatorPointer(_ found: Int, _ declared: RowEntity, _ tokens: JSONTokens) -> String {
        guard let way = declared.discriminatorPath else { return path.pointer(tokens) }
        let isLiteral = CanonicalText.ordered(tokens.string(found - 1)) == way.literal
        return path.pointer(tokens) + (isLiteral ? "/" + JSONPointer.escaped(way.literal) : way.pointer)
    }

    // MARK: Identities

    /// Stores the identity of an object in `batch.keys`. The import looks up the object by this identity. The values of the object begin at
    /// the index `firstValue`.
    @inline(__always)
    private mutating func trackKey(of entity: RowEntity, _ firstValue: Int) {
        guard entity.isHashed else { return }
        for place in firstValue..<batch.values.count where batch.values[place].attribute == entity.keyAttribute {
            trackKey(place, entity)
        }
    }

    @inline(__always)
    mutating func trackKey(_ place: Int, _ entity: RowEntity) {
        let value = batch.values[place]
        guard value.isGiven else { return }
        let type = entity.conversions[Int(value.attribute)].type
        // A closure that captured the reader would copy the whole reader.
        let hasher = hashNumbers.hasher
        let hash = batch.withCell(value) { $0.keyHash(hasher, type) }
        batch.values[place].key = Int32(batch.keys.count)
        batch.keys.append(RowBatch.Key(entity: entity.number, hash: hash))
    }
}

/// Finds the properties whose names are keys of a row in another Unicode form, such as `é` as one character or as two. Names are equal if
/// their canonical forms are equal.
extension RowReader {
    /// The keys of one object that are names in another form.
    struct OtherForms {
        var keys: [KeyTable.Target: Int] = [:]
    }

    /// Returns the target of a key that the table does not contain in the same form. Throws a failure if an earlier key of the object in
    /// another form has the same target.
    @inline(never)
    func otherForm(
        _ key: Int, _ table: KeyTable, _ forms: inout OtherForms, _ tokens: JSONTokens
    ) throws(RowFailure) -> KeyTable.Target? {
        guard let target = table.target(ofOtherForm: tokens.bytes(key)) else { return nil }
        guard forms.keys.updateValue(key, forKey: target) == nil else { throw repeated(key, tokens) }
        return target
    }

    /// Throws a failure if the object has a name in two forms.
    func check(_ forms: OtherForms, in object: Int, _ table: inout KeyTable, _ tokens: JSONTokens) throws(RowFailure) {
        var key = object + 1
        while key < tokens.next(object) {
            if let target = table.target(of: tokens.bytes(key)), let other = forms.keys[target] { throw repeated(other, tokens) }
            key = tokens.next(key + 1)
        }
    }

    private func repeated(_ key: Int, _ tokens: JSONTokens) -> RowFailure {
        let name = Excerpt.plain(tokens.string(key))
        return failure(.malformed, tokens, key: key, "the object has the key '\(name)' twice, in two forms of Unicode; omit one of them")
    }
}

/// Recognizes rows that are envelopes: objects that contain the rows, such as the pages of a web service.
extension RowReader {
    /// The maximum number of keys on the path from an envelope to the rows.
    private static let envelopeDepthMax = 3

    /// Returns the failure of a row without any property of the entity, if the row contains an array of objects. Complexity: O(1) for a
    /// row with a property, otherwise O(values of the row).
    func envelope(_ place: Int, _ tokens: JSONTokens) -> RowFailure? {
        let object = batch.objects[place]
        guard object.values.isEmpty, object.links.isEmpty, !isRecord else { return nil }
        guard let pointer = Self.rows(in: 0, tokens, depth: 1) else { return nil }
        let name = entities[object.entity].counted.entity.name
        let message = "the row has no property of '\(name)', but contains an array of objects. If these are the rows, name their place: "
        let remedy = "--rows \(Excerpt.plain(pointer)), or options.rows in Swift"
        return RowFailure(code: .unknownKey, pointer: pointer, message: message + remedy)
    }

    /// Returns the JSON pointer to the first array in an object that begins with an object.
    private static func rows(in object: Int, _ tokens: JSONTokens, depth: Int) -> String? {
        var found: String?
        tokens.forEachMember(object) { key, value in
            guard found == nil else { return }
            var rest: String?
            if tokens.kind(value) == .array, tokens.memberCount(value) > 0, tokens.kind(value + 1) == .object { rest = "" }
            if tokens.kind(value) == .object, depth < envelopeDepthMax { rest = rows(in: value, tokens, depth: depth + 1) }
            found = rest.map { "/" + JSONPointer.escaped(tokens.string(key)) + $0 }
        }
        return found
    }
}
