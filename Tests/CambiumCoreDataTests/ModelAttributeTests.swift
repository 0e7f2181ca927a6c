import CambiumCoreData
import CambiumJSON
import CambiumModel
import Testing

struct ModelAttributeTests {
    @Test(arguments: [
        ("Integer 16", AttributeType.int16), ("Integer 32", .int32), ("Integer 64", .int64), ("Float", .float), ("Double", .double),
        ("Decimal", .decimal), ("String", .string), ("Boolean", .bool), ("Date", .date), ("Binary", .data), ("UUID", .uuid),
        ("URI", .uri),
    ])
    func `every type is carried over`(name: String, type: AttributeType) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='\(name)'")
        #expect(attribute?.type == type)
        #expect(attribute?.presence == .mandatory)
        #expect(attribute?.defaultValue == nil)
        #expect(warnings.isEmpty)
    }

    @Test(arguments: ["attributeType='Transformable'", "attributeType='Composite'", "attributeType='Undefined'", "", "attributeType='Odd'"])
    func `types without a counterpart become json with a warning`(words: String) throws {
        let (attribute, warnings) = try ModelFixture.attribute(words)
        #expect(attribute?.type == .json)
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix("Thing.a: ") == true)
    }

    @Test(arguments: [
        ("Integer 32", "0", JSONValue.number("0")), ("Integer 64", "-7", .number("-7")), ("Integer 16", "3.0", .number("3")),
        ("Double", "1.5", .number("1.5")), ("Float", "0.1", .number("0.1")), ("Double", "0.0", .number("0")),
        ("Decimal", "12.3400", .number("12.34")), ("String", "", .string("")), ("String", "YES", .string("YES")),
        ("Boolean", "YES", .bool(true)), ("Boolean", "NO", .bool(false)), ("Boolean", "1", .bool(true)), ("Boolean", "false", .bool(false)),
        ("URI", "https://example.org/", .string("https://example.org/")),
        ("UUID", "00000000-0000-0000-0000-00000000000A", .string("00000000-0000-0000-0000-00000000000A")),
    ])
    func `defaults are carried over`(type: String, text: String, value: JSONValue) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='\(type)' defaultValueString='\(text)'")
        #expect(attribute?.defaultValue == value)
        #expect(warnings.isEmpty)
    }

    @Test(arguments: [
        ("Integer 16", "40000"), ("Integer 16", "40000.5"), ("Float", "1e99 m"),
        ("UUID", "none"), ("Binary", "AAAA"), ("Transformable", "{}"),
        ("Date", "0"),
    ])
    func `defaults that are not values of their type are omitted with a warning`(type: String, text: String) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='\(type)' defaultValueString='\(text)'")
        #expect(attribute != nil)
        #expect(attribute?.defaultValue == nil)
        #expect(warnings.contains { $0.hasPrefix("Thing.a: 'defaultValueString'") })
    }

    @Test(arguments: [
        ("Integer 16", "1.5", JSONValue.number("1")), ("Integer 32", "NO", .number("0")), ("Integer 32", "YES", .number("1")),
        ("Integer 64", "0x10", .number("0")), ("Integer 16", "", .number("0")), ("Integer 32", "many", .number("0")),
        ("Integer 32", " -7 days", .number("-7")), ("Double", "NO", .number("0")), ("Double", "true", .number("1")),
        ("Double", "nan", .number("0")), ("Float", "2.5e1x", .number("25")), ("Decimal", "12.50 EUR", .number("12.5")),
        ("Decimal", "-.5.", .number("-0.5")), ("Double", "3e", .number("3")), ("Double", ".", .number("0")),
        ("Boolean", "0.0", .bool(false)),
        ("Boolean", "1.5", .bool(true)), ("Boolean", "-02", .bool(true)), ("Boolean", "", .bool(false)), ("Boolean", "Yep", .bool(true)),
    ])
    func `a default that Xcode left after a change of the type is read from its start, with a warning`(
        type: String, text: String, value: JSONValue
    ) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='\(type)' defaultValueString='\(text)'")
        #expect(attribute?.defaultValue == value)
        #expect(warnings.count == 1 && warnings[0].hasPrefix("Thing.a: 'defaultValueString' is '\(text)', which"), "\(warnings)")
    }

    @Test func `dates count from 2001`() throws {
        let (attribute, warnings) = try ModelFixture.attribute(
            "attributeType='Date' defaultDateTimeInterval='0' minDateTimeInterval='-978307200' maxDateTimeInterval='86400.5'")
        #expect(attribute?.defaultValue == .string("2001-01-01T00:00:00Z"))
        #expect(attribute?.min == .string("1970-01-01T00:00:00Z"))
        #expect(attribute?.max == .string("2001-01-02T00:00:00.5Z"))
        #expect(warnings.isEmpty)
    }

    @Test(arguments: [("Binary", "AAAA", "data"), ("Transformable", "{}", "json")])
    func `the warning about a default of data or JSON does not state that the text is not such a value`(
        type: String, text: String, name: String
    ) throws {
        let (_, warnings) = try ModelFixture.attribute("attributeType='\(type)' defaultValueString='\(text)'")
        #expect(warnings.last == "Thing.a: 'defaultValueString' is ignored; it has no meaning for the type \(name).")
    }

    @Test(arguments: ["1e300", "nan", "-inf", "soon", "252423993600"])
    func `dates outside the years 1 to 9999 are omitted with a warning`(text: String) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='Date' defaultDateTimeInterval='\(text)'")
        #expect(attribute != nil)
        #expect(attribute?.defaultValue == nil)
        #expect(warnings.count == 1)
    }

    @Test func `numbers have bounds and text has lengths`() throws {
        let number = try ModelFixture.attribute("attributeType='Integer 32' minValueString='1' maxValueString='10'")
        #expect(number.attribute?.min == .number("1"))
        #expect(number.attribute?.max == .number("10"))
        let text = try ModelFixture.attribute(
            "attributeType='String' minValueString='1' maxValueString='10' regularExpressionString='[a-z]+'")
        #expect(text.attribute?.min == nil)
        #expect(text.attribute?.minLength == 1)
        #expect(text.attribute?.maxLength == 10)
        #expect(text.attribute?.regex == "[a-z]+")
        #expect((number.warnings + text.warnings).isEmpty)
    }

    @Test(arguments: [
        "attributeType='Boolean' minValueString='0'", "attributeType='Date' maxValueString='0'",
        "attributeType='String' minValueString='-1'",
        "attributeType='String' minDateTimeInterval='0'", "attributeType='Integer 16' regularExpressionString='.'",
        "attributeType='Integer 16' defaultDateTimeInterval='0'", "attributeType='String' optional='perhaps'",
    ])
    func `constraints that do not fit the type are omitted with a warning`(words: String) throws {
        let (attribute, warnings) = try ModelFixture.attribute(words)
        #expect(attribute?.min == nil && attribute?.max == nil && attribute?.minLength == nil && attribute?.regex == nil)
        #expect(warnings.count == 1)
    }

    @Test(arguments: ["(?=.*[0-9]).+", "(a)\\1", "[a"])
    func `an expression that RE2 does not have is omitted with a warning`(pattern: String) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='String' regularExpressionString='\(pattern)'")
        #expect(attribute?.type == .string && attribute?.regex == nil)
        #expect(warnings.count == 1 && warnings[0].contains("RE2"), "\(warnings)")
    }

    @Test(arguments: [
        (#"\w+@\w+"#, [#"'\w' considers only ASCII"#]), (#"[^\S.]\d\b"#, [#"'\S' "#, #"'\d' "#, #"'\b' "#]),
        ("[[:alpha:][:digit:]_]", ["'[:alpha:]' ", "'[:digit:]' "]), ("[a-z&amp;&amp;[^aeiou]]+", ["'&&' inside", "'[' inside"]),
        (#"[\]&amp;]&amp;&amp;[]\[:-]\\w\Q\w[[\E\p{L}(é|\.)"#, []), ("[0-9]{5}&amp;&amp;", []),
    ])
    func `an expression that RE2 reads differently is kept with a warning for each difference`(pattern: String, parts: [String]) throws {
        let (attribute, warnings) = try ModelFixture.attribute("attributeType='String' regularExpressionString='\(pattern)'")
        #expect(attribute?.regex != nil)
        #expect(warnings.count == parts.count, "\(warnings)")
        for (warning, part) in zip(warnings, parts) { #expect(warning.contains(part)) }
    }

    @Test func `a model has at most 1,000 different expressions`() throws {
        let attributes = (0...1001).map { number in
            "<attribute name='a\(number)' attributeType='String' regularExpressionString='b{\(number / 2)}c\(max(1, number))'/>"
        }
        let definition = try ModelFixture.definition("<entity name='Thing'>\(attributes.joined())</entity>")
        #expect(definition.entities.first?.attributes.count { $0.regex == nil } == 1)
        #expect(definition.warnings.count == 1 && definition.warnings[0].contains("at most 1000 different expressions"))
        _ = try Schema(definition)
    }

    @Test(arguments: [
        "attributeType='Integer 32' defaultValueString='0' minValueString='1'",
        "attributeType='Double' defaultValueString='2' maxValueString='1.5'",
        "attributeType='Date' defaultDateTimeInterval='0' minDateTimeInterval='1'",
        "attributeType='String' defaultValueString='' minValueString='1'",
        "attributeType='String' defaultValueString='b' regularExpressionString='a'",
    ])
    func `a default that the constraints refuse is omitted with a warning`(words: String) throws {
        let (attribute, warnings) = try ModelFixture.attribute(words)
        let kept = try #require(attribute)
        #expect(kept.defaultValue == nil)
        #expect(warnings.count == 1 && warnings[0].contains("the default is ignored"), "\(warnings)")
        _ = try Schema { EntityDefinition("Thing") { kept } }
    }

    @Test func `transient attributes, and derived ones without an equivalent, are stored with a warning`() throws {
        let (transient, warnings) = try ModelFixture.attribute("attributeType='Boolean' transient='YES'")
        #expect(transient?.isTransient == true)
        #expect(warnings.count == 1)
        let derived = try ModelFixture.attribute("attributeType='Integer 32' derived='YES' derivationExpression='now()'")
        #expect(derived.attribute?.isTransient == false)
        #expect(derived.attribute?.derivation == nil)
        #expect(derived.warnings.count == 1)
    }

    @Test(arguments: [
        ("Integer 64", "items.@count", Derivation.count("items"), AttributeType.int64),
        ("Integer 32", "count:(items)", .count("items"), .int32),
        ("Integer 16", "items.@count", .count("items"), .int16), ("Decimal", "items.@sum.price", .sum("items.price"), .decimal),
        ("Double", "sum:(items.price)", .sum("items.price"), .decimal), ("Decimal", "max:(items.price)", .max("items.price"), .decimal),
        ("String", "canonical:(name)", .folded("name"), .string),
    ])
    func `derived attributes become expressions`(type: String, text: String, derivation: Derivation, read: AttributeType) throws {
        let definition = try ModelFixture.definition(
            """
            <entity name='Thing'><attribute name='name' attributeType='String'/>
            <attribute name='price' optional='YES' attributeType='Decimal'/>
            <attribute name='a' attributeType='\(type)' derived='YES' derivationExpression='\(text)'/>
            <relationship name='items' toMany='YES' destinationEntity='Thing'/></entity>
            """)
        let attribute = try #require(definition.entities[0].attributes.last)
        #expect(attribute.derivation == derivation && attribute.type == read)
        #expect(try Schema(definition).entity("Thing")?.attribute("a")?.isDerived == true)
    }

    @Test func `an expression of an attribute that is not derived is ignored with a warning`() throws {
        let definition = try ModelFixture.definition(
            """
            <entity name='Thing'><attribute name='a' attributeType='Integer 64' defaultValueString='2' derived='NO'
            derivationExpression='items.@count'/>
            <relationship name='items' toMany='YES' optional='YES' destinationEntity='Thing'/></entity>
            """)
        let attribute = try #require(definition.entities[0].attributes.first)
        #expect(attribute.derivation == nil && attribute.defaultValue == .number("2"))
        #expect(definition.warnings == ["Thing.a: 'derivationExpression' is ignored; the attribute is not derived."])
    }

    @Test func `rules for the values of a derived attribute cause warnings`() throws {
        let definition = try ModelFixture.definition(
            """
            <entity name='Thing'><attribute name='a' optional='YES' attributeType='Integer 64' defaultValueString='2' minValueString='1'
            maxValueString='3' derived='YES' derivationExpression='items.@count'/>
            <relationship name='items' toMany='YES' optional='YES' destinationEntity='Thing'/></entity>
            """)
        let attribute = try #require(definition.entities[0].attributes.first)
        #expect(attribute.derivation == .count("items") && attribute.min == nil && attribute.max == nil)
        #expect(definition.warnings.count == 2, "\(definition.warnings)")
        #expect(definition.warnings[0].contains("the minimum is ignored") && definition.warnings[1].contains("the maximum is ignored"))
    }

    @Test(arguments: ["uppercase:(name)", "items.@count", "canonical:(price)", "sum:(name)", "@count", "", "folded:(name)", "name.@folded"])
    func `expressions that a schema cannot compute cause a warning`(text: String) throws {
        let definition = try ModelFixture.definition(
            """
            <entity name='Thing'><attribute name='name' attributeType='String'/><attribute name='price' attributeType='Decimal'/>
            <attribute name='a' optional='YES' attributeType='String' derived='YES' derivationExpression='\(text)'/></entity>
            """)
        #expect(definition.entities[0].attributes.allSatisfy { $0.derivation == nil })
        #expect(definition.warnings.count == 1 && definition.warnings[0].contains("derived in Core Data"))
        _ = try Schema(definition)
    }

    @Test(arguments: [
        "allowsExternalBinaryDataStorage", "spotlightIndexingEnabled", "preserveAfterDeletion", "allowsCloudEncryption", "futureWord",
    ])
    func `settings without a counterpart cause a warning only if they are on`(word: String) throws {
        #expect(try ModelFixture.attribute("attributeType='Binary' \(word)='YES'").warnings.count == 1)
        #expect(try ModelFixture.attribute("attributeType='Binary' \(word)='NO'").warnings.isEmpty)
    }

    @Test func `a warning is a sentence with its place`() throws {
        let (_, warnings) = try ModelFixture.attribute("attributeType='Binary' allowsExternalBinaryDataStorage='YES'")
        let sentence =
            "Thing.a: 'allowsExternalBinaryDataStorage' is ignored; the bytes are stored in the store, like any other value."
        #expect(warnings == [sentence])
    }

    @Test func `settings for generated code are omitted without a warning`() throws {
        let (_, warnings) = try ModelFixture.attribute(
            "attributeType='String' usesScalarValueType='YES' syncable='YES' versionHashModifier='2'")
        #expect(warnings.isEmpty)
    }

    @Test func `user info and former names are carried over`() throws {
        let (attribute, warnings) = try ModelFixture.attribute(
            "attributeType='String' optional='YES' elementID='old'",
            inside: "<userInfo><entry key='rebuild' value='uuid'/><entry key='empty'/></userInfo>")
        #expect(attribute?.presence == .optional)
        #expect(attribute?.formerName == "old")
        #expect(attribute?.userInfo == ["rebuild": "uuid", "empty": ""])
        #expect(warnings.isEmpty)
    }

    @Test func `an attribute without a name is refused with its place`() {
        let error = ModelFixture.error("<model>\n<entity name='A'>\n<attribute attributeType='String'/></entity></model>")
        #expect(error?.code == .invalidInput)
        #expect(error?.place?.line == 3)
    }
}
