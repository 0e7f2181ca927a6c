import Cambium
import CambiumModel
import TestFixtures
import Testing

@testable import CambiumLog

/// Readers that open a store while a writer changes its checkpoints.
@Suite struct InterruptedReaderTests {
    @Test(arguments: [Point.latest, .transaction(TransactionNumber(rawValue: 3))])
    func `a reader whose checkpoint is dropped while it opens reads the checkpoint that replaces it`(point: Point) throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.addNote(1)
        try store.compact(.checkpoints(1))
        let interrupted = InterruptedVolume(volume, .beforeSharing) {
            try store.addNote(2)
            try store.compact(.checkpoints(1))
        }
        let reader = try ReadOnlyStore(interrupted, point: point)
        #expect(reader.graph.digest() == store.graph.digest())
        #expect(reader.recovery.checkpoint.rawValue == 3)
        try store.close()
    }

    @Test func `a verification begins again if a compaction drops the checkpoint with which it begins`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.addNote(1)
        try store.compact(.checkpoints(1))
        let interrupted = InterruptedVolume(volume, .beforeSharing) {
            try store.addNote(2)
            try store.compact(.checkpoints(1))
        }
        let verification = try Verification(interrupted)
        #expect(verification.isSound && verification.findings == [])
        #expect(verification.transactionCount == 3 && verification.digest == store.graph.digest())
        try store.close()
    }

    @Test func `a verification skips a checkpoint that a writer drops after the list was read`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.addNote(1)
        try store.compact(.checkpoints(1))
        for number in 2...3 {
            try store.addNote(number)
            try store.checkpoint()
        }
        try store.close()
        // The checkpoint of transaction 2 replaces the retired part of the log. Because it is corrupt, the next one is tried.
        var contents = volume.contents
        contents[CheckpointRecord.path(TransactionNumber(rawValue: 2))]?[30] ^= 1
        let corrupt = MemoryVolume(contents: contents)
        let interrupted = InterruptedVolume(corrupt, .beforeSharing) {
            try corrupt.remove(CheckpointRecord.path(TransactionNumber(rawValue: 3)))
        }
        let verification = try Verification(interrupted)
        #expect(!verification.isSound && verification.digest == store.graph.digest())
    }

    @Test func `a file of pages that another thread creates at the same time is opened`() throws {
        let volume = ContestedVolume()
        let writer = try PageFileWriter(volume, 7, isNamed: false)
        writer.close()
        #expect(volume.memory.contents == [PageFile.path(7): []])
    }

    @Test func `a note of corruption that a writer removes while it is read is ignored`() throws {
        let volume = VanishingVolume()
        _ = try volume.memory.open(PageFile.damageMark, .create)
        #expect(try PageFile.corruptionNote(volume) == nil)
    }
}

/// Files in memory that a writer removes right after a reader has found that they exist.
private final class VanishingVolume: OverMemory {
    let memory = MemoryVolume()

    var name: String { "vanishing" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try memory.open(path, mode) }
    func exists(_ path: String) throws(CambiumError) -> Bool {
        guard try memory.exists(path) else { return false }
        try memory.remove(path)
        return true
    }
}

/// Files in memory that another thread creates right after the caller has found that they do not exist.
private final class ContestedVolume: OverMemory {
    let memory = MemoryVolume()

    var name: String { "contested" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try memory.open(path, mode) }
    func exists(_ path: String) throws(CambiumError) -> Bool {
        if try memory.exists(path) { return true }
        _ = try memory.open(path, .create)
        return false
    }
}
