import Cambium
import CambiumBytes
import CambiumGraph
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog

/// Followers while checkpoints are made, replaced, retired and corrupt.
extension FollowerTests {
    @Test func `a follower does not move to a corrupt checkpoint after a reader has found corruption`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try insert(store, 1, copies: 50)
        try store.checkpoint()
        // With these limits, the checkpoints count as large ones, whose chunks are checked only when they are first touched.
        var tuning = LogTuning.standard
        (tuning.checkedByteCountMax, tuning.provenByteCountMax) = (0, 0)
        let follower = try StoreFollower(volume, tuning: tuning)
        for number in 2...3 {
            try insert(store, number, copies: 50)
            try store.checkpoint()
        }
        #expect(try follower.advance() == 2)
        try corruptNewestCheckpoint(volume)
        try volume.create(PageFile.damageMark, Array("a chunk is damaged\n".utf8))
        try insert(store, 4)
        #expect(try follower.advance() == 1)
        #expect(follower.graph.digest() == store.graph.digest())
    }

    /// Overwrites the beginning of a chunk that belongs to the newest checkpoint, but not to the oldest one.
    private func corruptNewestCheckpoint(_ volume: MemoryVolume) throws {
        let id = try StoreSettings.read(volume).store
        let roots = try CheckpointRecord.list(volume).map { try #require(try PageFile.root(volume, store: id, $0)).record }
        let (newest, oldest) = (try #require(roots.first), try #require(roots.last))
        let chunk = try #require(
            newest.chunks.indices.first { chunk in
                newest.chunks[chunk].hasPages && !(chunk < oldest.chunks.count && oldest.chunks[chunk].isOwned)
            })
        let bytes = [UInt8](repeating: 0xA5, count: 64)
        try volume.open(PageFile.path(newest.pageFile), .update).write(bytes, at: chunk * PageFile.chunkByteCount)
    }

    @Test func `a follower releases its first checkpoint as it advances, and shows the same graph as the store`() throws {
        let volume = MemoryVolume()
        let store = try checkpointed(volume)
        let follower = try StoreFollower(volume)
        for number in 1..<12 {
            try insert(store, number)
            try store.checkpoint()
            #expect(try follower.advance() == 1)
            #expect(follower.graph.digest() == store.graph.digest(), "transaction \(number)")
        }
        #expect(try follower.advance() == 0 && CheckpointRecord.list(volume).count <= 4)
        try insert(store, 20)
        try store.checkpoint()
        #expect(try CheckpointRecord.list(volume).allSatisfy { $0.rawValue > 8 } && follower.advance() == 1)
    }

    @Test func `a reader gets the graph of a follower while the follower releases its old pages`() throws {
        let volume = SharedVolume()
        let store = try checkpointed(volume.memory)
        let follower = try StoreFollower(volume)
        let areInTime = Guarded<[Bool]>([])
        volume.onRelease.withLock { body in
            body = {
                let done = DispatchSemaphore(value: 0)
                _ = DedicatedThread.run {
                    _ = follower.graph
                    done.signal()
                }
                let isInTime = done.wait(timeout: .now() + .seconds(5)) == .success
                areInTime.withLock { $0.append(isInTime) }
            }
        }
        for number in 1...2 {
            try insert(store, number)
            try store.checkpoint()
            try follower.advance()
        }
        try follower.advance()
        volume.onRelease.withLock { $0 = nil }
        #expect(areInTime.withLock { $0 } == [true])
        try store.close()
    }

    @Test func `a follower whose next transactions are retired continues with the checkpoint that replaces them`() throws {
        let volume = MemoryVolume()
        let store = try checkpointed(volume)
        let follower = try StoreFollower(volume)
        let before = follower.graph
        for number in 1...3 {
            try insert(store, number)
            try store.compact(.checkpoints(1))
        }
        try insert(store, 4)
        #expect(try follower.advance() == 4)
        #expect(follower.graph.digest() == store.graph.digest() && before.objectCount == 1)
        try insert(store, 5)
        #expect(try follower.advance() == 1)
        #expect(follower.graph.digest() == store.graph.digest())
        try store.close()
    }

    @Test func `a follower releases its first checkpoint even if the newest checkpoint is corrupt`() throws {
        let volume = MemoryVolume()
        let store = try checkpointed(volume)
        let follower = try StoreFollower(volume)
        let first = try #require(CheckpointRecord.list(volume).first)
        for number in 1...2 {
            try insert(store, number)
            try store.checkpoint()
        }
        #expect(try follower.advance() == 2)
        let newest = CheckpointRecord.path(store.graph.transaction)
        var record = try #require(volume.contents[newest])
        record[30] ^= 1
        try volume.replace(newest, record)
        #expect(try follower.advance() == 0 && follower.graph.digest() == store.graph.digest())
        try insert(store, 3)
        try store.checkpoint()
        #expect(try !CheckpointRecord.list(volume).contains(first) && follower.advance() == 1)
    }

    @Test func `a follower opens newer checkpoints that are corrupt only once`() throws {
        let volume = WatchedVolume()
        let store = try checkpointed(volume.memory)
        let follower = try StoreFollower(volume)
        for number in 1...2 {
            try insert(store, number)
            try store.checkpoint()
        }
        #expect(try follower.advance() == 2)
        for (path, record) in volume.memory.contents where path.hasPrefix("roots/") {
            try volume.memory.replace(path, record.dropLast() + [~record[record.count - 1]])
        }
        for expected in [2, 0] {
            volume.readPaths.withLock { $0 = [] }
            #expect(try follower.advance() == 0)
            #expect(volume.readPaths.withLock { paths in paths.count { $0.hasPrefix("roots/") } } == expected)
            try insert(store, 3 + expected)
            #expect(try follower.advance() == 1 && follower.graph.digest() == store.graph.digest())
        }
    }

    @Test func `a shown graph stays unchanged when its follower continues from another checkpoint`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        let follower = try StoreFollower(volume)
        var shown: [(graph: Graph, digest: GraphDigest)] = []
        for number in 1..<20 {
            try insert(store, number, copies: 40)
            try store.checkpoint()
            try follower.advance()
            shown.append((follower.graph, store.graph.digest()))
            if number % 3 == 0 { shown.removeFirst() }
        }
        for (graph, digest) in shown { #expect(graph.digest() == digest) }
        try store.close()
    }
}

/// Files in memory that report when a shared lock on one of them is released.
private final class SharedVolume: OverMemory {
    let memory = MemoryVolume()
    let onRelease = Guarded<(@Sendable () -> Void)?>(nil)

    var name: String { "shared" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try memory.open(path, mode) }
    func share(_ path: String) throws(CambiumError) -> any VolumeLock { Share(lock: try memory.share(path), volume: self) }

    private final class Share: VolumeLock {
        private let lock: any VolumeLock
        private let volume: SharedVolume

        init(lock: any VolumeLock, volume: SharedVolume) {
            self.lock = lock
            self.volume = volume
        }

        deinit { if let body = volume.onRelease.withLock({ $0 }) { body() } }

        func unlock() { lock.unlock() }
    }
}
