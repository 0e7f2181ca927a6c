import CambiumJSON
import Foundation

/// The fuzz target for the JSON parser. A text that the parser accepts is UTF-8, and can be written and read back as the same tree.
enum JSONTarget {
    @Sendable static func seeds() throws -> [[UInt8]] {
        [
            SampleStore.rows, SampleStore.schemaText, "[1,-0.5e+10,\"\\u00e9\\ud83d\\ude00\\n\",true,false,null,{}]",
            "{\"a\":{\"b\":[[[[]]]]},\"\":\"\",\"\\u0061b\":0}",
        ].map { Array($0.utf8) }
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: input)
        } catch {
            guard error.offset <= input.count, error.line >= 1, error.column >= 1 else {
                throw Finding("the position of a mistake is outside the text: \(error)")
            }
            return
        }
        let text = Array(value.text.utf8)
        guard try JSONValue(parsing: text) == value else { throw Finding("a tree is not read back unchanged") }
        guard Array(try JSONValue(parsing: text).text.utf8) == text else { throw Finding("a tree is not written back unchanged") }
        guard isText(input) else { throw Finding("bytes that are not UTF-8 are accepted") }
    }

    private static func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }
}
