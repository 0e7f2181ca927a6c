import CambiumModel

/// The names of the files in `log`: 20 digits of a transaction's number, and what the file is. FORMAT.md 1.
enum LogFileName {
    enum Suffix: String, CaseIterable {
        case segment = ".log"
        /// The ops of a large transaction.
        case ops = ".ops"
        /// Those of one that is not committed.
        case pending = ".pending"
    }

    static let digitCount = 20
    /// What is added to the name of a file while another one takes its place.
    static let replacementSuffix = ".new"

    static func name(_ number: TransactionNumber, _ suffix: Suffix) -> String {
        let digits = String(number.rawValue)
        return String(repeating: "0", count: digitCount - digits.count) + digits + suffix.rawValue
    }

    static func path(_ number: TransactionNumber, _ suffix: Suffix) -> String { LogReader.directory + "/" + name(number, suffix) }

    /// What a name tells; nil for one that is none of these.
    static func parse(_ name: String) -> (number: TransactionNumber, suffix: Suffix)? {
        for suffix in Suffix.allCases where name.hasSuffix(suffix.rawValue) {
            guard let digits = UInt64(name.dropLast(suffix.rawValue.utf8.count)), digits > 0 else { return nil }
            let number = TransactionNumber(rawValue: digits)
            return self.name(number, suffix) == name ? (number, suffix) : nil
        }
        return nil
    }
}
