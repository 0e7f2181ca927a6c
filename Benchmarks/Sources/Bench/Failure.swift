/// A benchmark that cannot run or has a wrong result.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws if a condition fails, because the figure would then measure something else.
func check(_ isRight: Bool, _ what: @autoclosure () -> String) throws {
    if !isRight { throw Failure("check failed: \(what())") }
}

/// Throws if two counts differ.
func check<Count: Equatable>(_ found: Count, is wanted: Count, _ what: String) throws {
    try check(found == wanted, "\(what): found \(found), expected \(wanted)")
}

extension Optional {
    /// Returns the value, or throws if there is no value.
    func required(_ what: @autoclosure () -> String) throws -> Wrapped {
        guard let self else { throw Failure("\(what()) is missing") }
        return self
    }
}
