internal import CambiumJSON
import CambiumModel

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
