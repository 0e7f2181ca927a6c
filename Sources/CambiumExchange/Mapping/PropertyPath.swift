internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// The path to a value in a row, as a list of keys.
struct PropertyPath: Hashable {
    /// The maximum number of keys of a path. It is less than `JSONParser.depthMax`, so that a document can contain the whole path.
    static let keyCountMax = 512

    let keys: [String]
    /// The whole path as one key. If an object has this key, its value is read there, and the path is not followed.
    let literal: String
    private let literalBytes: [UInt8]

    /// Creates the path of a single key. A delimiter in the key is part of the key.
    init(key: String) {
        keys = [key]
        literal = key
        literalBytes = Array(key.utf8)
    }

    /// Reads a path. Returns `nil` if a key is empty.
    init?(_ path: String, delimiter: String, escape: String) {
        let bytes = Array(path.utf8)
        let delimiter = Array(delimiter.utf8)
        let escape = Array(escape.utf8)
        var keys: [[UInt8]] = [[]]
        var literal: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            if !escape.isEmpty, rest.starts(with: escape), let next = Self.escaped(rest.dropFirst(escape.count), delimiter, escape) {
                keys[keys.count - 1] += next
                literal += next
                index += escape.count + next.count
            } else if !delimiter.isEmpty, rest.starts(with: delimiter) {
                keys.append([])
                literal += delimiter
                index += delimiter.count
            } else {
                keys[keys.count - 1].append(bytes[index])
                literal.append(bytes[index])
                index += 1
            }
        }
        if keys.contains([]) { return nil }
        self.keys = keys.map { String(decoding: $0, as: UTF8.self) }
        self.literal = String(decoding: literal, as: UTF8.self)
        literalBytes = literal
    }

    /// Returns the delimiter or the escape at the beginning of `rest`, the text after an escape. Returns `nil` if `rest` begins with
    /// another text, so that the escape before `rest` is ordinary text.
    private static func escaped(_ rest: ArraySlice<UInt8>, _ delimiter: [UInt8], _ escape: [UInt8]) -> [UInt8]? {
        if !delimiter.isEmpty, rest.starts(with: delimiter) { return delimiter }
        return rest.starts(with: escape) ? escape : nil
    }

    /// A fault in the path, for messages; `nil` if the path can be used.
    var flaw: String? {
        keys.count <= Self.keyCountMax ? nil : "a path has at most \(Self.keyCountMax) keys, but this one has \(keys.count)"
    }

    /// Returns whether a key, with `prefix` before it, equals the whole path or the first key of the path. A key may contain delimiters.
    ///
    /// - Parameter prefix: the keys on the way to the object that contains `key`, each followed by the delimiter.
    func begins(with prefix: String, _ key: UnsafeRawBufferPointer) -> Bool {
        if !prefix.isEmpty {
            let name = prefix + String(decoding: key, as: UTF8.self)
            return literal.hasSameBytes(as: name) || keys[0].hasSameBytes(as: name)
        }
        return ByteSearch.equals(literalBytes, key) || keys.count > 1 && keys[0].utf8.elementsEqual(key)
    }

    /// Returns the token of the value at the path in an object. First looks for the whole path as one key.
    func value(in object: Int, _ tokens: JSONTokens) -> Int? {
        if let value = Self.member(literalBytes, of: object, tokens) { return value }
        if keys.count == 1 { return nil }
        var value = object
        for key in keys {
            guard tokens.kind(value) == .object, let next = Self.member(Array(key.utf8), of: value, tokens) else { return nil }
            value = next
        }
        return value
    }

    private static func member(_ name: [UInt8], of object: Int, _ tokens: JSONTokens) -> Int? {
        var key = object + 1
        let end = tokens.next(object)
        while key < end {
            if ByteSearch.equals(name, tokens.bytes(key)) { return key + 1 }
            key = tokens.next(key + 1)
        }
        return name.allSatisfy { $0 < 0x80 } ? nil : otherForm(of: name, in: object, tokens)
    }

    /// Returns the value of a key that is the name in another Unicode form.
    private static func otherForm(of name: [UInt8], in object: Int, _ tokens: JSONTokens) -> Int? {
        let form = CanonicalText.bytes(String(decoding: name, as: UTF8.self))
        var found: Int?
        tokens.forEachMember(object) { key, value in
            if found == nil, CanonicalText.bytes(tokens.string(key)) == form { found = value }
        }
        return found
    }

    /// The JSON pointer from the object to the value.
    var pointer: String { keys.map { "/" + JSONPointer.escaped($0) }.joined() }
}
