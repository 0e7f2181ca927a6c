import Cambium
import CambiumJSON

extension Terminal {
    /// Prints the JSON value that `write` writes, on one line. The writer escapes control characters as JSON requires.
    static func printJSON(_ write: (inout JSONWriter) throws -> Void) rethrows {
        var writer = JSONWriter()
        try write(&writer)
        writer.endLine()
        self.write(writer.bytes)
    }

    /// Prints a JSON object on one line. `members` writes its members.
    static func printObject(_ members: (inout JSONWriter) throws -> Void) rethrows { try printJSON { try $0.object(members) } }
}

extension JSONWriter {
    mutating func member(_ name: String, _ number: TransactionNumber?) { member(name, number?.rawValue) }

    mutating func member(_ name: String, _ objects: [NamedObject]) { member(name, objects.map(\.name)) }

    /// Writes a member with an array of ranges, such as `[{"from":1,"to":9}]`.
    mutating func member(_ name: String, _ ranges: [ClosedRange<TransactionNumber>]) {
        array(name, ranges) { writer, range in
            writer.object { writer in
                writer.member("from", range.lowerBound)
                writer.member("to", range.upperBound)
            }
        }
    }

    /// Writes the member `undone` with the number of each transaction in the ranges.
    mutating func undone(_ ranges: [ClosedRange<TransactionNumber>], as name: String = "undone") {
        array(name, ranges) { writer, range in
            for number in range.lowerBound.rawValue...range.upperBound.rawValue { writer.number(number) }
        }
    }
}
