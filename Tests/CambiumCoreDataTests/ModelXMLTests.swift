import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumCoreData

struct ModelXMLTests {
    @Test func `malformed XML is refused with its place`() {
        let error = ModelFixture.error("<model>\n  <entity name='A'>\n</model>")
        #expect(error?.code == .invalidInput)
        #expect(error?.place?.file == "contents")
        #expect(error?.place?.line == 3)
        #expect(error?.place?.column != nil)
    }

    @Test(arguments: ["", " ", "text", "{}", "<!-- -->", "<model/><model/>", "<model", "<model a='1' a='2'/>", "<model>&unknown;</model>"])
    func `text that is not an XML document is refused`(text: String) {
        #expect(ModelFixture.error(text)?.code == .invalidInput)
    }

    @Test(arguments: ["<plist version='1.0'/>", "<model type='com.example.Other'/>", "<entity name='A'/>"])
    func `XML that is not a model is refused with its place`(text: String) {
        let error = ModelFixture.error(text)
        #expect(error?.code == .invalidInput)
        #expect(error?.place?.line == 1)
    }

    @Test func `declared entities are refused`() {
        let bomb = "<!DOCTYPE model [\n <!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><model><entity name='&b;'/></model>"
        let error = ModelFixture.error(bomb)
        #expect(error?.code == .invalidInput)
        #expect(error?.place?.line == 2)
        #expect(error?.place?.column == 2)
    }

    @Test(arguments: [
        "<?x?><model/>", "<model>\n<?x?></model>", "<?xml-stylesheet?><model/>", "<?xml version='1.0'?>\n<?x?><model/>",
        "<!DOCTYPE m [<!ATTLIST m a CDATA #IMPLIED>]><model/>", "<!DOCTYPE m [<!NOTATION n SYSTEM 'u'>]><model/>",
        "<!DOCTYPE m [<!NOTATION n PUBLIC 'p'>]><model/>", "<!DOCTYPE m [<!ELEMENT m ANY>]><model/>",
    ])
    func `markup that may lack parts is refused before it is parsed`(text: String) {
        let error = ModelFixture.error(text)
        #expect(error?.code == .invalidInput && error?.place?.column != nil)
    }

    @Test(arguments: ["", "\u{FEFF}"])
    func `the XML declaration at the beginning of a model is read`(mark: String) throws {
        let text = mark + "<?xml version='1.0' encoding='UTF-8' standalone='yes'?><model><entity name='A'/></model>"
        #expect(try SchemaDefinition(coreDataModel: Array(text.utf8), file: "contents").entities.map(\.name) == ["A"])
    }

    @Test func `an external document type is not read`() throws {
        let text = "<!DOCTYPE model SYSTEM 'file:///nowhere/model.dtd'><model><entity name='A'/></model>"
        let definition = try SchemaDefinition(coreDataModel: Array(text.utf8), file: "contents")
        #expect(definition.entities.map(\.name) == ["A"])
    }

    @Test func `encodings that could hide a declaration are refused`() {
        #expect(ModelFixture.error("<?xml version='1.0' encoding='UTF-7'?><model/>")?.code == .invalidInput)
        #expect(ModelFixture.error(Array("<model/>".utf16.flatMap { [UInt8($0 & 0xFF), 0] }))?.code == .invalidInput)
        #expect(ModelFixture.error([0x3C, 0xFF, 0x3E])?.code == .invalidInput)
    }

    @Test func `a compiled model is refused`() {
        #expect(ModelFixture.error("bplist00...")?.code == .invalidInput)
    }

    @Test(arguments: [100, LongTests.areWanted ? 100_000 : 40_000])
    func `elements that nest too deep are refused`(depth: Int) {
        let open = String(repeating: "<a>", count: depth)
        let close = String(repeating: "</a>", count: depth)
        #expect(ModelFixture.error("<model>\(open)\(close)</model>")?.code == .limitExceeded)
    }

    @Test func `elements beyond the limit are refused`() {
        let elements = String(repeating: "<a/>", count: ModelXML.elementCountMax)
        #expect(ModelFixture.error("<model>\(elements)</model>")?.code == .limitExceeded)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a model of 12 MB is read`() throws {
        let value = String(repeating: "v", count: 2000)
        let entity = "<entity name='A'><userInfo><entry key='k' value='\(value)'/></userInfo></entity>\n"
        let definition = try ModelFixture.definition(String(repeating: entity, count: 6000))
        #expect(definition.entities.count == 6000)
    }

    @Test func `attributes beyond the limit are refused before they are compared`() {
        let attributes = (0..<200_000).map { "a\($0)=''" }.joined(separator: " ")
        #expect(ModelFixture.error("<model \(attributes)/>")?.code == .limitExceeded)
    }

    @Test func `equals signs of values, comments and texts are no attributes`() throws {
        let signs = String(repeating: "=", count: ModelXML.attributeCountMax + 1)
        let comment = "<!-- it's \(signs) --><![CDATA[\" \(signs)]]>"
        let entity = "<entity name='A'><userInfo><entry key='k' value='> \"\(signs)'/></userInfo></entity> \(signs)"
        #expect(try ModelFixture.definition(comment + entity).entities.first?.userInfo == ["k": "> \"\(signs)"])
    }

    @Test(arguments: ["<!-- ' -->", "<!--> ' -->", "<![CDATA[ ' ]]>", "it's", "<a b='>' c=\"'\"/>"])
    func `no markup hides attributes beyond the limit`(markup: String) {
        let attributes = (0...ModelXML.attributeCountMax).map { "a\($0)=\"\"" }.joined(separator: " ")
        #expect(ModelFixture.error("<model>\(markup)\n<a \(attributes)/></model>")?.place?.line == 2)
        #expect(ModelFixture.error("<!DOCTYPE m SYSTEM \"<a '\"><model \(attributes)/>")?.code == .limitExceeded)
    }

    @Test func `parents beyond the limit are refused`() {
        let entities = (0..<20_000).map { "<entity name='E\($0)' parentEntity='E\($0 + 1)'/>" }.joined()
        #expect(ModelFixture.error("<model>\(entities)</model>")?.code == .limitExceeded)
    }

    @Test func `inherited properties beyond the limit are refused before the indexes are read`() {
        let attributes = (0..<2100).map { "<attribute name='a\($0)' attributeType='String'/>" }.joined()
        let index = "<fetchIndex name='i'><fetchIndexElement property='a0'/></fetchIndex>"
        let children = (0..<2100).map { "<entity name='C\($0)' parentEntity='A'>\(index)</entity>" }.joined()
        let error = ModelFixture.error("<model><entity name='A'>\(attributes)</entity>\(children)</model>")
        #expect(error?.code == .limitExceeded && error?.place?.file == "contents")
    }

    @Test func `every truncated model is refused`() {
        let text = ModelFixture.text("<entity name='A'><attribute name='a' attributeType='String'/></entity>")
        let bytes = Array(text.utf8)
        for count in bytes.indices.dropLast() { #expect(ModelFixture.error(Array(bytes[..<count]))?.code == .invalidInput) }
    }

    @Test func `a corrupt model is read or refused`() {
        let text = ModelFixture.text("<entity name='A'><attribute name='a' attributeType='String' defaultValueString='x'/></entity>")
        let bytes = Array(text.utf8)
        var refused = 0
        for index in bytes.indices {
            for bit in 0..<8 {
                var corrupt = bytes
                corrupt[index] ^= 1 << UInt8(bit)
                guard let error = ModelFixture.error(corrupt) else { continue }
                refused += 1
                #expect(error.code == .invalidInput)
            }
        }
        #expect(refused > bytes.count)
    }

    @Test func `character references and other scripts are read`() throws {
        let definition = try ModelFixture.definition(
            "<entity name='Zoë'><userInfo><entry key='k' value='&lt;&amp;&#233;&quot;'/></userInfo></entity>")
        #expect(definition.entities.first?.name == "Zoë")
        #expect(definition.entities.first?.userInfo == ["k": "<&é\""])
    }
}
