import CambiumModel

/// A table with one `Known` object for each entity that an import uses, by entity number. Access through this table does not change the
/// reference count of an object, because counting would take longer than most accesses.
struct EntityReferences<Known: AnyObject> {
    private let owned: [Known]
    private let references: [Unmanaged<Known>?]

    init(_ owned: [Known], number: (Known) -> EntityNumber) {
        self.owned = owned
        var references = [Unmanaged<Known>?](repeating: nil, count: 1 + Int(owned.map { number($0).rawValue }.max() ?? 0))
        for known in owned { references[Int(number(known).rawValue)] = Unmanaged.passUnretained(known) }
        self.references = references
    }

    /// Returns a reference, which is valid as long as this `EntityReferences` value exists. The entity must belong to the schema of the
    /// store.
    @inline(__always) subscript(_ number: EntityNumber) -> Reference {
        guard let reference = references[Int(number.rawValue)] else {
            preconditionFailure("Rows must be read with the schema of the store.")
        }
        return Reference(unmanaged: reference)
    }

    struct Reference {
        fileprivate let unmanaged: Unmanaged<Known>

        @inline(__always)
        func with<Result, Failure: Error>(_ body: (Known) throws(Failure) -> Result) throws(Failure) -> Result {
            // SAFETY: the `EntityReferences` value keeps the object alive in `owned`, and a reference is used only while that value exists.
            try unmanaged._withUnsafeGuaranteedRef { known -> Swift.Result<Result, Failure> in
                do throws(Failure) {
                    return .success(try body(known))
                } catch {
                    return .failure(error)
                }
            }.get()
        }

        /// The object as a reference that is counted. Use `with` if access is frequent.
        var counted: Known { with { $0 } }
    }
}
