import Cambium
import CambiumLog
import Dispatch
import Foundation
import Synchronization

/// A disk on which a test controls the duration of the log's syncs, and whether the disk is full.
package final class GatedVolume: OverMemory {
    package let memory = MemoryVolume()
    package let isShut = Atomic(false)
    package let isFull = Atomic(false)
    /// Whether the process has too many open files, so that no file of the log can be opened.
    package let isOutOfFiles = Atomic(false)
    /// Whether syncs fail, including syncs that are in progress.
    package let isBroken = Atomic(false)
    package let arrivals = DispatchSemaphore(value: 0)
    package let syncCount = Atomic(0)
    package let gate = DispatchSemaphore(value: 0)

    package init() {}

    package var name: String { "gated" }
    package func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        if path.hasPrefix("log/"), isOutOfFiles.load(ordering: .relaxed) {
            throw CambiumError(
                mode == .create ? .cannotCreate : .ioFailure, "There are too many open files.", underlying: SystemError(code: EMFILE))
        }
        let file = try memory.open(path, mode)
        return path.hasPrefix("log/") ? GatedFile(file: file, volume: self) : file
    }
}

package final class GatedFile: VolumeFile {
    private let file: any VolumeFile
    private let volume: GatedVolume

    package init(file: any VolumeFile, volume: GatedVolume) {
        self.file = file
        self.volume = volume
    }

    package func byteCount() throws(CambiumError) -> Int { try file.byteCount() }
    package func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] { try file.read(at: offset, count: count) }
    package func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        if volume.isFull.load(ordering: .relaxed) {
            throw CambiumError(.ioFailure, "The disk is full.", underlying: SystemError(code: ENOSPC))
        }
        try file.write(bytes, at: offset)
    }
    package func truncate(to byteCount: Int) throws(CambiumError) { try file.truncate(to: byteCount) }
    package func sync() throws(CambiumError) {
        volume.syncCount.wrappingAdd(1, ordering: .relaxed)
        if volume.isShut.load(ordering: .relaxed) {
            volume.arrivals.signal()
            volume.gate.wait()
        }
        if volume.isBroken.load(ordering: .relaxed) {
            throw CambiumError(.ioFailure, "The disk is broken.", underlying: SystemError(code: EIO))
        }
        try file.sync()
    }
    package func close() { file.close() }
}
