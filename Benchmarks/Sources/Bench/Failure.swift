/// A benchmark that cannot run, or whose outcome is wrong.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws where a figure would be one of something else than what was to be measured.
func check(_ isRight: Bool, _ what: @autoclosure () -> String) throws {
    if !isRight { throw Failure("check failed: \(what())") }
}

/// Throws where two counts differ.
func check<Count: Equatable>(_ found: Count, is wanted: Count, _ what: String) throws {
    try check(found == wanted, "\(what): \(found), and \(wanted) was expected")
}

extension Optional {
    /// The value. Throws where there is none.
    func required(_ what: @autoclosure () -> String) throws -> Wrapped {
        guard let self else { throw Failure("\(what()) is missing") }
        return self
    }
}
