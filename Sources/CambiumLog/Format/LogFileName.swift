internal import CambiumModel

/// The names of the files in `log`: the number of a transaction, in 20 digits, and the kind of the file. FORMAT.md 1.
enum LogFileName {
    enum Suffix: String, CaseIterable {
        case segment = ".log"
        /// A file with the ops of a large transaction.
        case ops = ".ops"
        /// A file with the ops of a large transaction that is not committed yet.
        case pending = ".pending"
    }

    static let directory = "log"
    static let digitCount = 20
    /// The suffix of the new version of a file. The new version loses the suffix when it replaces the old version.
    static let replacementSuffix = ".new"

    static func name(_ number: TransactionNumber, _ suffix: Suffix) -> String {
        let digits = String(number.rawValue)
        return String(repeating: "0", count: digitCount - digits.count) + digits + suffix.rawValue
    }

    static func path(_ number: TransactionNumber, _ suffix: Suffix) -> String { directory + "/" + name(number, suffix) }

    /// Returns the number and the suffix in a name, or `nil` if the name is not the name of a file of the log.
    static func parse(_ name: String) -> (number: TransactionNumber, suffix: Suffix)? {
        for suffix in Suffix.allCases where name.hasSuffix(suffix.rawValue) {
            guard let digits = UInt64(name.dropLast(suffix.rawValue.utf8.count)), (1...Format.transactionMax).contains(digits) else {
                return nil
            }
            let number = TransactionNumber(rawValue: digits)
            return self.name(number, suffix) == name ? (number, suffix) : nil
        }
        return nil
    }
}
