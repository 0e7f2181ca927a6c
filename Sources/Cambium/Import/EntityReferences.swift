import CambiumModel

/// What an import knows of each entity, by its number, without the counting of references: that would take longer than most of
/// what is done with it.
struct EntityReferences<Known: AnyObject> {
    private let owned: [Known]
    private let references: [Unmanaged<Known>?]

    init(_ owned: [Known], number: (Known) -> EntityNumber) {
        self.owned = owned
        var references = [Unmanaged<Known>?](repeating: nil, count: 1 + Int(owned.map { number($0).rawValue }.max() ?? 0))
        for known in owned { references[Int(number(known).rawValue)] = Unmanaged.passUnretained(known) }
        self.references = references
    }

    /// To be used while these references are there. The number is one of the schema's.
    @inline(__always) subscript(_ number: EntityNumber) -> Reference {
        guard let reference = references[Int(number.rawValue)] else {
            preconditionFailure("Rows are read with the schema of the store.")
        }
        return Reference(unmanaged: reference)
    }

    struct Reference {
        fileprivate let unmanaged: Unmanaged<Known>

        @inline(__always)
        func with<Result, Failure: Error>(_ body: (Known) throws(Failure) -> Result) throws(Failure) -> Result {
            // SAFETY: `owned` keeps it, and is kept by whoever asked for the reference.
            try unmanaged._withUnsafeGuaranteedRef { known -> Swift.Result<Result, Failure> in
                do throws(Failure) {
                    return .success(try body(known))
                } catch {
                    return .failure(error)
                }
            }.get()
        }

        /// Counted, for what is rarely done.
        var counted: Known { with { $0 } }
    }
}
