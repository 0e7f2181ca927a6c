/// Lists the names of a model's XML attributes, and states which of them the reader uses, ignores, or reports in a warning.
enum ModelVocabulary {
    /// The kinds of XML elements. The reader checks the XML attributes of these elements.
    enum Kind { case model, entity, attribute, relationship, fetchIndex, fetchIndexElement, fetchRequest, fetchedProperty }

    /// Returns whether the reader uses the XML attribute `key`, or has a special warning for it.
    private static func isRead(_ key: String, _ kind: Kind) -> Bool {
        switch kind {
        case .model: ["type"].contains(key)
        case .entity: ["name", "parentEntity", "isAbstract", "elementID", "renamingIdentifier"].contains(key)
        case .attribute:
            [
                "name", "attributeType", "optional", "defaultValueString", "defaultDateTimeInterval", "minValueString", "maxValueString",
                "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString", "transient", "derived", "derivationExpression",
                "indexed", "elementID", "renamingIdentifier",
            ].contains(key)
        case .relationship:
            [
                "name", "destinationEntity", "inverseName", "inverseEntity", "toMany", "ordered", "minCount", "maxCount", "optional",
                "transient", "deletionRule", "elementID", "renamingIdentifier",
            ].contains(key)
        case .fetchIndex: ["name", "partialIndexPredicate"].contains(key)
        case .fetchIndexElement: ["property", "expression", "type", "order"].contains(key)
        case .fetchRequest: ["name", "entity", "predicateString", "fetchLimit", "includeSubentities"].contains(key)
        case .fetchedProperty: ["name", "optional"].contains(key)
        }
    }

    /// Returns whether the XML attribute `key` affects only Xcode, the generated code or Core Data's comparison of versions, and not the
    /// data. The reader ignores such an attribute without a warning. Docs/Guides/FromCoreData.md lists these attributes for users.
    private static func isSilent(_ key: String, _ kind: Kind) -> Bool {
        switch kind {
        case .model:
            [
                "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
                "userDefinedModelVersionIdentifier", "name", "usedWithSwiftData", "iOSVersion", "macOSVersion", "tvOSVersion",
                "watchOSVersion",
            ].contains(key)
        // These XML attributes concern objects in memory and unsaved changes. A stored query has neither.
        case .fetchRequest:
            ["fetchBatchSize", "includePropertyValues", "includePendingChanges", "returnObjectsAsFaults"].contains(key)
        case .entity, .attribute, .relationship, .fetchedProperty:
            [
                "representedClassName", "syncable", "codeGenerationType", "usesScalarValueType", "versionHashModifier", "module",
            ].contains(key)
        case .fetchIndex: false
        case .fetchIndexElement: key == "expressionType"
        }
    }

    /// Returns whether the XML attribute `key` affects the data, but has no equivalent in a schema.
    static func isForeign(_ key: String, _ kind: Kind) -> Bool { !isRead(key, kind) && !isSilent(key, kind) }

    /// Returns the end of a warning about the XML attribute or element `key`: the consequence of ignoring this attribute or element.
    static func consequence(of key: String) -> String {
        switch key {
        case "allowsExternalBinaryDataStorage": "the bytes are stored in the store, like any other value"
        case "spotlightIndexingEnabled", "storedInTruthFile", "coreSpotlightDisplayNameExpression": "nothing is passed to Spotlight"
        case "preserveAfterDeletion", "preservesValueInHistoryOnDeletion":
            "the log keeps the values of deleted objects as long as it is retained"
        case "allowsCloudEncryption": "values are not encrypted"
        case "valueTransformerName": "no transformer is called"
        case "customClassName": "values have the type of the schema"
        case "usedWithCloudKit": "no object is synchronized with CloudKit"
        case "ephemeral": "the values are stored, like any other value"
        case "configuration", "memberEntity": "all entities are in one store"
        case "composite": "composite attributes are read as json"
        default: "a schema has no equivalent"
        }
    }
}

/// Warnings about parts of a model that a schema cannot express. Each warning is recorded once.
struct ModelWarnings {
    private(set) var all: [String] = []
    private var known: Set<String> = []

    mutating func add(_ place: String, _ sentence: String) {
        let warning = "\(place): \(sentence)."
        if known.insert(warning).inserted { all.append(warning) }
    }

    /// Warns about each XML attribute of an element that a schema cannot express. An XML attribute with the value `NO` or
    /// `false` requests nothing, so it needs no warning.
    mutating func addUnsupported(_ element: ModelElement, _ kind: ModelVocabulary.Kind, _ place: String) {
        for (key, value) in element.attributes.sorted(by: { $0.key < $1.key }) where ModelVocabulary.isForeign(key, kind) {
            if !["NO", "false"].contains(value) { addUnsupported(key, place) }
        }
    }

    mutating func addUnsupported(_ key: String, _ place: String) {
        add(place, "'\(key)' is ignored; \(ModelVocabulary.consequence(of: key))")
    }

    /// Warns about a child element that a schema cannot express.
    mutating func addUnsupported(child: ModelElement, _ place: String) {
        let name = child["name"].map { " '\($0)'" } ?? ""
        add(place, "the element '\(child.name)'\(name) is ignored; \(ModelVocabulary.consequence(of: child.name))")
    }
}
