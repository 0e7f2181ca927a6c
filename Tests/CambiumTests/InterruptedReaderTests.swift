import CambiumModel
import Testing

@testable import Cambium
@testable import CambiumLog

/// Readers that open a store while a writer changes its checkpoints.
@Suite struct InterruptedReaderTests {
    @Test func `a file of pages that another thread creates at the same time is opened`() throws {
        let volume = ContestedVolume()
        let writer = try PageFileWriter(volume, 7, isNamed: false)
        writer.close()
        #expect(volume.memory.contents == [PageFile.path(7): []])
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
