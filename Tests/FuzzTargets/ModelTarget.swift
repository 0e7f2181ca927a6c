import CambiumCoreData
import CambiumModel

/// The fuzz target for the XML of a Core Data model. If a model can be read and results in a valid schema, its definition can be written as
/// JSON and read back unchanged.
enum ModelTarget {
    @Sendable static func seeds() throws -> [[UInt8]] {
        let texts = [
            model, "<model><entity name='A'/></model>",
            "<!DOCTYPE plist PUBLIC '-//Apple//DTD PLIST 1.0//EN' 'http://www.apple.com/DTDs/PropertyList-1.0.dtd'><plist/>",
            "<!DOCTYPE a SYSTEM 'b' [<!-- c -->]><model><![CDATA[d]]>&lt;&#233;<e:f xmlns:e='g'/></model>",
        ]
        return texts.map { Array($0.utf8) }
    }

    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
        <entity name="Note" representedClassName="Note" isAbstract="YES" elementID="Memo">
        <attribute name="id" attributeType="UUID" usesScalarValueType="NO"/>
        <attribute name="title" optional="YES" attributeType="String" minValueString="1" maxValueString="80" defaultValueString="-"
        regularExpressionString="[a-z]+"/>
        <attribute name="count" attributeType="Integer 32" defaultValueString="0" minValueString="-1" indexed="YES"/>
        <attribute name="when" attributeType="Date" defaultDateTimeInterval="7200" minDateTimeInterval="0"/>
        <attribute name="rest" optional="YES" attributeType="Transformable" valueTransformerName="X"><userInfo>
        <entry key="a" value="b"/></userInfo></attribute>
        <relationship name="items" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Item"
        inverseName="note" inverseEntity="Item" minCount="2" maxCount="9"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
        <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
        <userInfo><entry key="cambium.identity" value="id, title"/></userInfo></entity>
        <entity name="Item" parentEntity="Note"><attribute name="price" attributeType="Decimal" defaultValueString="0.0"/>
        <relationship name="note" maxCount="1" deletionRule="Nullify" destinationEntity="Note" inverseName="items" inverseEntity="Note"/>
        <compoundIndexes><compoundIndex><index value="price"/></compoundIndex></compoundIndexes></entity>
        <elements><element name="Note" positionX="0"/></elements></model>
        """

    @Sendable static func run(_ input: [UInt8]) throws {
        var definition: SchemaDefinition
        do throws(CambiumError) { definition = try SchemaDefinition(coreDataModel: input, file: "contents") } catch { return }  // Refused.
        definition.warnings = []
        do throws(CambiumError) { _ = try Schema(definition) } catch { return }  // Refused, with all mistakes.
        guard try SchemaDefinition(json: Array(definition.json.text.utf8)) == definition else {
            throw Finding("a model's definition is not read back unchanged")
        }
    }
}
