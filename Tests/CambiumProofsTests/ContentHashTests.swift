import CambiumBytes
import Testing

@testable import CambiumProofs

@Suite struct ContentHashTests {
    /// Messages and hashes from the examples that NIST publishes for FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `hashes are those that NIST publishes`(message: String, hash: String) {
        #expect(HexText.encode(ContentHash.hash(Array(message.utf8)[...])) == hash)
    }

    @Test func `parts of any size have the hash of the whole`() {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for size in [1, 63, 64, 65, 999] {
            var hash = ContentHash()
            for start in stride(from: 0, to: bytes.count, by: size) { hash.add(bytes[start..<min(start + size, bytes.count)]) }
            #expect(hash.finish() == ContentHash.hash(bytes[...]), "\(size)")
        }
    }

    @Test func `a copy and a hash that has ended continue from their own bytes`() {
        var hash = ContentHash()
        hash.add([1, 2][...])
        var copy = hash
        #expect(hash.finish() == ContentHash.hash([1, 2][...]))
        copy.add([3][...])
        hash.add([4][...])
        #expect(copy.finish() == ContentHash.hash([1, 2, 3][...]))
        #expect(hash.finish(20) == Array(ContentHash.hash([1, 2, 4][...]).prefix(20)))
    }
}
