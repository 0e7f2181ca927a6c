#if Macros
    /// The rules of the store for the names of entities and properties. A macro cannot call `SchemaResolver` in `CambiumModel`, so this
    /// type repeats the rules of `SchemaResolver`.
    enum StoreName {
        private static let byteCountMax = 200

        /// Returns the reason why the store refuses a name, or `nil` if the store accepts the name.
        static func flaw(of name: String) -> String? {
            guard let first = name.unicodeScalars.first, first.properties.isXIDStart else { return "a name begins with a letter" }
            guard name.unicodeScalars.allSatisfy({ $0.properties.isXIDContinue || $0 == "-" }) else {
                return "a name contains only letters, digits, '_' and '-'"
            }
            return name.utf8.count > byteCountMax ? "a name has at most \(byteCountMax) bytes" : nil
        }

        /// Returns the name without the characters that the store refuses. Returns `nil` if the result is empty or too long.
        static func repaired(_ name: String) -> String? {
            var scalars = Substring(name).unicodeScalars
            while let first = scalars.first, !first.properties.isXIDStart { scalars.removeFirst() }
            var repaired = ""
            for scalar in scalars where scalar.properties.isXIDContinue || scalar == "-" { repaired.unicodeScalars.append(scalar) }
            return flaw(of: repaired) == nil ? repaired : nil
        }
    }
#endif
