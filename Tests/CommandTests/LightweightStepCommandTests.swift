import CambiumTesting
import Foundation
import Testing

@Suite struct LightweightStepCommandTests {
    /// Returns the schema of a hierarchy: with or without a parent above its root, and with `x` in the root or in its children.
    private static func shapes(hasTop: Bool, isUp: Bool, key: String) -> String {
        let x = #""x": {"type": "bool", "optional": true}"#
        let (above, below) = isUp ? (", " + x, "") : ("", x)
        return """
            {"entities": {\(hasTop ? #""Top": {"abstract": true}, "# : "")
              "Base": {\(hasTop ? #""parent": "Top", "# : "")"identity": ["k"], "attributes": {"k": {"type": "\(key)"}\(above)},
                "relationships": {"mates": {"to": "Base", "many": true, "ordered": true}}},
              "Left": {"parent": "Base", "attributes": {\(below)}}, "Right": {"parent": "Base", "attributes": {\(below)}}}}
            """
    }

    private static func rows(_ random: inout SplitMix64) -> String {
        var entities: [String] = []
        let rows = (0..<30).map { number in
            entities.append(random.pick(["Base", "Left", "Right"]) ?? "Base")
            let x = entities[number] == "Base" ? "" : random.pick([#","x":true"#, #","x":false"#, ""]) ?? ""
            let mates = (0..<number).filter { _ in random.isTrue(1, outOf: 8) }.shuffled(using: &random)
            let list = mates.map { #"{"_entity":"\#(entities[$0])","k":\#($0)}"# }.joined(separator: ",")
            return #"{"_entity":"\#(entities[number])","k":\#(number)\#(x),"mates":[\#(list)]}"#
        }
        return rows.joined(separator: "\n")
    }

    /// Returns the objects that an export writes, in any order.
    private static func export(_ place: Workplace, _ store: String) throws -> [String] {
        let outcome = try place.run("export", store, "--references", "identity", "--nulls", "omit")
        #expect(outcome.code == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init).sorted()
    }

    @Test(arguments: LongTests.some(of: ["up", "down", "above"]))
    func `a store after lightweight steps exports what an export before each step brings into a new store`(seed: String) throws {
        var random = SplitMix64(for: seed)
        let place = try Workplace()
        var (hasTop, isUp) = (false, random.isTrue(1, outOf: 2))
        try place.write(Self.shapes(hasTop: hasTop, isUp: isUp, key: "int16"), to: "schema.json")
        #expect(try place.run("init", "s", "--schema", "schema.json").code == 0)
        #expect(try place.run("import", "s", "Base", "-", input: Self.rows(&random)).code == 0)
        for key in ["int64", "decimal", "double", "int32"] {
            let before = try Self.export(place, "s").joined(separator: "\n")
            hasTop = hasTop || random.isTrue(1, outOf: 2)
            isUp.toggle()
            try place.write(Self.shapes(hasTop: hasTop, isUp: isUp, key: key), to: "schema.json")
            let outcome = try place.run("schema", "s", "--set", "schema.json")
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try place.run("init", key, "--schema", "schema.json").code == 0)
            #expect(try place.run("import", key, "Base", "-", input: before).code == 0)
            #expect(try Self.export(place, "s") == Self.export(place, key))
        }
        #expect(try place.run("verify", "s").code == 0)
    }
}
