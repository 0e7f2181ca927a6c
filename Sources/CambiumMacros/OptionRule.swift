#if Macros
    /// Determines, for each option such as `.minLength`, which properties may have the option.
    enum OptionRule {
        enum Role: String {
            case attribute = "Attribute"
            case relationship = "Relationship"
        }

        private static let attributeOptions: Set<String> = [
            "identity", "unique", "indexed", "json", "default", "min", "max", "minLength", "maxLength", "regex", "derived", "rebuild",
            "followParent", "withoutParent",
        ]
        private static let relationshipOptions: Set<String> = [
            "inverse", "onDelete", "orphans", "ordered", "clone", "minCount", "maxCount",
        ]

        private static let numbers: Set<String> = [
            "Int", "Int16", "Int32", "Int64", "Float", "Double", "Decimal", "DecimalNumber", "Date",
        ]
        private static let texts: Set<String> = ["String", "URL"]
        private static let sequences: Set<String> = ["String", "URL", "Data", "[UInt8]"]

        /// Returns the roles (attribute, relationship or both) of the properties that may have an option. If this version of the macro does
        /// not know the option, returns both roles, so that the macro reports no mistake.
        static func roles(of option: String) -> Set<Role> {
            if attributeOptions.contains(option) { return [.attribute] }
            if relationshipOptions.contains(option) { return [.relationship] }
            return [.attribute, .relationship]
        }

        /// Returns the attribute types that may have an option, and their description. Returns `nil` if all types may have the option.
        static func types(of option: String) -> (names: Set<String>, description: String)? {
            switch option {
            case "min", "max": (numbers, "numbers and dates")
            case "minLength", "maxLength": (sequences, "text and data")
            case "regex": (texts, "text")
            default: nil
            }
        }
    }
#endif
