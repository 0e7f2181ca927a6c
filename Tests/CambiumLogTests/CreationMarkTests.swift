import CambiumBytes
import CambiumModel
import Testing

@testable import CambiumLog

@Suite struct CreationMarkTests {
    private func bytes(_ names: [String], isFinished: Bool = false) -> [UInt8] {
        var (mark, bytes) = CreationMark.begin(store: [UInt8](0..<16))
        for name in names { bytes += mark.add(name) }
        return bytes + (isFinished ? mark.finish() : [])
    }

    private func mark(_ bytes: [UInt8]) -> CreationMark? {
        guard case .mark(let mark) = CreationMark.decode(bytes) else { return nil }
        return mark
    }

    @Test func `a mark is read back with its names and its end`() {
        let names = [
            "roots/00000000000000ff.lease", "log/00000000000000000001.log", "HEAD", "store.json.new", "pages-00000000000000ff",
            "roots/00000000000000000003.root",
        ]
        #expect(mark(bytes(names))?.names == Set(names) && mark(bytes(names))?.isFinished == false)
        #expect(mark(bytes(names, isFinished: true))?.isFinished == true)
        #expect(mark(bytes(names, isFinished: true) + [0])?.isFinished == true)
        #expect(bytes([]).count == Format.CreationMark.headerByteCount)
    }

    @Test func `a torn or changed entry and all entries after it are ignored`() {
        let (one, two) = (bytes(["HEAD"]), bytes(["HEAD", "store.json"]))
        for count in one.count..<two.count { #expect(mark(Array(two.prefix(count)))?.names == ["HEAD"], "\(count) bytes") }
        for offset in one.count..<two.count {
            var changed = two + bytes([]).suffix(4)
            changed[offset] ^= 0x10
            #expect(mark(changed)?.names == ["HEAD"], "byte \(offset)")
        }
    }

    @Test func `a name that a full disk refused is not in the mark, and later entries verify`() throws {
        let memory = MemoryVolume()
        let disk = FailingVolume(memory)
        let volume = try CreationVolume(disk, store: [UInt8](0..<16), expecting: ["HEAD"])
        disk.isFull.store(true, ordering: .relaxed)
        #expect(throws: CambiumError.self) { try volume.open("pages-00000000000000ff", .create) }
        disk.isFull.store(false, ordering: .relaxed)
        _ = try volume.open("store.json", .create)
        #expect(mark(memory.contents[CreationMark.fileName] ?? [])?.names == ["HEAD", "store.json"])
        _ = try volume.open("pages-00000000000000ff", .create)
        #expect(mark(memory.contents[CreationMark.fileName] ?? [])?.names.count == 3)
    }

    @Test func `a mark whose header did not reach the disk is torn, and any other file is foreign`() {
        let whole = bytes(["HEAD"])
        for count in 0..<Format.CreationMark.headerByteCount {
            #expect(CreationMark.decode(Array(whole.prefix(count))) == .torn, "\(count) bytes")
        }
        #expect(CreationMark.decode([UInt8](repeating: 0, count: 60)) == .torn)
        for text in ["a", "notes of mine", "CAMBMADE and more than thirty bytes of text"] {
            #expect(CreationMark.decode(Array(text.utf8)) == .foreign, "\(text)")
        }
    }

    @Test(arguments: [
        "notes.txt", "../notes", "log/../../notes", "/etc/passwd", "LOCK", "CREATING", "log/notes.txt", "roots/notes", "pages-notes",
        "log/",
        "roots/x.root", "other/00000000000000000001.log", "log/1.log",
    ])
    func `a mark that names a file that no creation makes is foreign`(name: String) {
        #expect(CreationMark.decode(bytes(["HEAD", name])) == .foreign)
    }
}
