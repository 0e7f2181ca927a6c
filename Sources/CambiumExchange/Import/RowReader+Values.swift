internal import CambiumJSON
import CambiumModel

extension RowReader {
    /// Ignores, reports or refuses a key that maps to no property, as the options require. Always ignores the name of a derived attribute,
    /// because exports write it. If the entity has sub-entities, only records the refusal and reads on. The object may belong to a
    /// sub-entity that has the key, and the identity of the object may follow in the row.
    ///
    /// - Parameter node: the node that lacks the key, in the tree of the paths.
    mutating func unknown(_ key: Int, _ entity: RowEntity, _ tokens: JSONTokens, at node: ReadingPlan.Node) throws(RowFailure) {
        if let path = entities[declared].counted.discriminatorPath, path.begins(with: node.prefix, tokens.bytes(key)) { return }
        if !entity.isMapped, isEmptyField(key, tokens) { return }
        var name = node.prefix + tokens.string(key)
        if node.prefix.isEmpty, entity.isDerived(name) { return }
        switch options.unknown {
        case .ignore: break
        case .report:
            batch.unknownKeys.append(CanonicalText.ordered(ImportReport.cut(name, ImportReport.unknownKeyLengthMax)))
        case .error:
            name = CanonicalText.ordered(name)
            let pointer = path.pointer(tokens) + node.pointer + "/" + JSONPointer.escaped(tokens.string(key))
            // With a mapping, a key need not be the name of a property.
            let newName = entity.isMapped ? nil : entity.entity.newName(ofAttribute: name) ?? entity.entity.newName(ofRelationship: name)
            let remedy = newName.map { ". \($0.dropLast())" } ?? ""
            let message = "the key '\(Excerpt.plain(name))' maps to no attribute or relationship\(remedy)"
            let failure = RowFailure(code: .unknownKey, pointer: pointer, message: message)
            if entity.entity.family.count == 1 { throw failure }
            unknownKey = unknownKey ?? failure
        }
    }

    /// Returns whether a key belongs to an empty CSV field, in a column of another entity of the hierarchy. If no column names the entities
    /// of the records, each record has the columns of all entities, and such a key is not a mistake.
    private func isEmptyField(_ key: Int, _ tokens: JSONTokens) -> Bool {
        guard isRecord, tokens.kind(key + 1) == .null else { return false }
        let name = tokens.string(key)
        return entities[declared].counted.entity.family.contains { number in
            let entity = entities[number].counted.entity
            return entity.attribute(name) != nil || entity.relationship(name) != nil
        }
    }

    mutating func attribute(
        _ entity: RowEntity, _ index: Int, _ key: Int, _ token: Int, _ tokens: JSONTokens
    ) throws(RowFailure) {
        let conversion = entity.conversions[index]
        let converted = convert(conversion.type, token, tokens)
        try take(converted, entity, index, token, tokens, key: key)
    }

    /// Adds a converted value to the row. The options decide what happens to null and to values of the wrong type.
    ///
    /// - Parameter key: the token of the key; `nil` if `path` already leads to the value.
    @inline(__always)
    mutating func take(
        _ converted: Result<ScalarForm, ConversionError>, _ entity: RowEntity, _ index: Int, _ token: Int, _ tokens: JSONTokens,
        key: Int?
    ) throws(RowFailure) {
        let conversion = entity.conversions[index]
        var form = ScalarForm.null
        switch converted {
        case .success(.null):
            if options.null == .error { throw failure(.nullValue, tokens, key: key, Self.refusedNull(entity.attributes[index].name)) }
            if options.null == .keep, !entity.identity.contains(index) { return batch.append(index, .kept) }
        case .success(let value): form = value
        case .failure(let error):
            // Without the values of its identity, an object cannot be found. So a wrong value of the identity can be neither kept nor read
            // as null.
            if options.mismatch == .error || entity.identity.contains(index) {
                let message = mismatch(error, entity, index, token, tokens)
                throw failure(.typeMismatch, tokens, key: key, message)
            }
            if options.mismatch == .keep { return batch.append(index, .kept) }
        }
        if case .null = form, !conversion.isOptional {
            throw failure(.nullValue, tokens, key: key, Self.mandatory(entity, index, converted))
        }
        if !conversion.isFree { try check(entity.attributes[index], form, token, tokens, key: key) }
        append(index, form, token, tokens)
    }

    /// Returns the message for a null that the options refuse.
    static func refusedNull(_ name: String) -> String { "'\(name)' is null, and the options of the import refuse null" }

    /// Returns the message for a value of the wrong type.
    private mutating func mismatch(
        _ error: ConversionError, _ entity: RowEntity, _ index: Int, _ token: Int, _ tokens: JSONTokens
    ) -> String {
        "'\(entity.attributes[index].name)': \(error.message)" + remedy(error, entity, index, token, tokens)
    }

    /// Returns the message for a mandatory attribute whose value is null or is read as null.
    private static func mandatory(_ entity: RowEntity, _ index: Int, _ converted: Result<ScalarForm, ConversionError>) -> String {
        let attribute = entity.attributes[index]
        if case .failure(let error) = converted { return "'\(attribute.name)' must have a value: \(error.message)" }
        let message = "'\(attribute.name)' is null, but must have a value"
        // `null: .keep` does not help for an identity attribute, because the object cannot be found without its identity.
        if attribute.defaultValue.isNull || entity.identity.contains(index) { return message }
        return message + ". To give new objects the default, keep values at null ('null: .keep', or '--null keep' on the command line)"
    }

    @inline(__always)
    private mutating func append(_ attribute: Int, _ form: ScalarForm, _ token: Int, _ tokens: JSONTokens) {
        switch form {
        case .null: batch.append(attribute, .null)
        case .fixed(let low, let high): batch.append(attribute, .fixed, low, high)
        case .text: batch.append(attribute, tokens.bytes(token))
        case .scratch: scratch.withUnsafeBytes { batch.append(attribute, $0) }
        }
    }

    @inline(__always)
    mutating func convert(
        _ type: AttributeType, _ token: Int, _ tokens: JSONTokens
    ) -> Result<ScalarForm, ConversionError> {
        do throws(ConversionError) {
            if readsTexts, tokens.kind(token) == .string { return .success(try form(ofText: tokens.bytes(token), type)) }
            return .success(try type.scalarForm(tokens, token, scratch: &scratch))
        } catch {
            return .failure(error)
        }
    }

    private func check(
        _ attribute: Attribute, _ form: ScalarForm, _ token: Int, _ tokens: JSONTokens, key: Int?
    ) throws(RowFailure) {
        guard !attribute.constraints.isEmpty else { return }
        let value = Value(form, tokens.bytes(token), scratch, attribute.type)
        if let flaw = attribute.constraints.check(value) { throw failure(.invalidValue, tokens, key: key, "'\(attribute.name)' \(flaw)") }
    }

    // MARK: References

    /// Reads a value that refers to an object, and returns the index of the value in the batch. Returns `nil` if the value is null, or if
    /// the value is unusable and the options skip unusable values.
    mutating func reference(
        _ entity: RowEntity, _ token: Int, _ tokens: JSONTokens
    ) throws(RowFailure) -> Int? {
        let index = Int(entity.keyAttribute)
        if entity.isMapped, let conversion = entity.plan.conversions[index] {
            return try reference(entity, .token(token), conversion, tokens)
        }
        return try reference(entity, convert(entity.conversions[index].type, token, tokens), token, tokens)
    }

    @inline(__always)
    mutating func reference(
        _ entity: RowEntity, _ converted: Result<ScalarForm, ConversionError>, _ token: Int, _ tokens: JSONTokens
    ) throws(RowFailure) -> Int? {
        let index = Int(entity.keyAttribute)
        switch converted {
        case .success(.null):
            return nil
        case .success(let form):
            if !entity.conversions[index].isFree { try check(entity.attributes[index], form, token, tokens, key: nil) }
            append(index, form, token, tokens)
            let place = batch.values.count - 1
            if entity.isHashed { trackKey(place, entity) }
            return place
        case .failure(let error):
            if options.mismatch != .error {
                isMismatched = true
                return nil
            }
            let name = entity.attributes[index].name
            let remedy = remedy(error, entity, index, token, tokens)
            throw failure(.typeMismatch, tokens, "the identity '\(name)' of '\(entity.entity.name)': \(error.message)\(remedy)")
        }
    }
}

/// Reads CSV texts as values. With a mapping, the type of a text is known only when the row is read.
extension RowReader {
    /// Returns whether `text` means null. An empty text means null, unless the type is string or data, because their values may be empty.
    func isNull(_ text: UnsafeRawBufferPointer, _ type: AttributeType) -> Bool {
        text.isEmpty && type != .string && type != .data
    }

    /// Returns the stored form of `text`. The text is read in the same way as in a column without a mapping.
    mutating func form(ofText text: UnsafeRawBufferPointer, _ type: AttributeType) throws(ConversionError) -> ScalarForm {
        if isNull(text, type) { return .null }
        switch type {
        case .int16, .int32, .int64, .float, .double, .decimal:
            guard let number = CSVNumber.json(text) else { throw .malformed(type, String(decoding: text, as: UTF8.self)) }
            return try type.scalarForm(copying: Array(number.utf8), scratch: &scratch)
        case .bool:
            let word = String(decoding: text.prefix(6), as: UTF8.self).lowercased()
            return try type.scalarForm(copying: Array(word.utf8), scratch: &scratch)
        default: return try type.scalarForm(text: text, scratch: &scratch)
        }
    }

    /// Returns the stored form of `text`, which the mapping computed. Reads the text in the same way as `form(ofText:_:)`.
    mutating func form(ofCopied text: String, _ type: AttributeType) throws(ConversionError) -> ScalarForm {
        let bytes = Array(text.utf8)
        let form = try bytes.span.bytes.withUnsafeBytes { bytes throws(ConversionError) in try self.form(ofText: bytes, type) }
        guard case .text = form else { return form }
        scratch = bytes
        return .scratch
    }

    /// Reads the members of a to-many relationship from `text`, which lists them.
    mutating func members(of text: UnsafeRawBufferPointer, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens) {
        for element in CSVList.elements(Array(text)) {
            member(.string(String(decoding: element, as: UTF8.self)), link, entity, tokens)
        }
    }
}
