package import CambiumModel

extension Entity {
    /// Throws `.invalidInput` if no object of the entity can have these identity values: there are too few or too many of them, or a value
    /// has another type than its attribute. A search calls this method only after it has found no object.
    package func checkIdentity(_ values: [Value]) throws(CambiumError) {
        let names = identityValues.map(\.name).joined(separator: ", ")
        guard values.count == identityValues.count else {
            let rule =
                names.isEmpty
                ? "'\(name)' has no identity. Find the object by its id, or by a query."
                : "The identity of '\(name)' consists of \(names). Pass a value for each of them, in this order."
            throw CambiumError(.invalidInput, "The number of identity values is \(values.count). \(rule)")
        }
        for (value, wanted) in zip(values, identityValues) where StoredForm(value, type: wanted.type) == nil {
            // A whole number beyond the range of its attribute has the right type. No object has it.
            if value.isNull || value.attributeType == .int64 && [.int16, .int32].contains(wanted.type) { continue }
            let type = value.attributeType?.rawValue ?? "null"
            throw CambiumError(
                .invalidInput,
                "The identity attribute '\(name).\(wanted.name)' is of type \(wanted.type.rawValue), "
                    + "but its value is of type \(type). Pass the values of \(names) in this order.")
        }
    }
}
