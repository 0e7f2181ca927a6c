import CambiumBytes
internal import CambiumLog
internal import CambiumModel

/// An open file of a `FaultyVolume`, the disk that tests use to simulate crashes and failures.
final class FaultyFile: VolumeFile {
    private let volume: FaultyVolume
    let number: Int
    /// The error of the sync that failed; `nil` if no sync of this object has failed.
    private let syncFailure = Guarded<CambiumError?>(nil)

    init(volume: FaultyVolume, number: Int) {
        self.volume = volume
        self.number = number
    }

    func isSame(as other: any VolumeFile) -> Bool {
        guard let other = other as? FaultyFile else { return false }
        return other.volume === volume && other.number == number
    }

    func byteCount() throws(CambiumError) -> Int {
        try volume.with { disk throws(CambiumError) in
            try disk.beginRead()
            return disk.files[number].live.count
        }
    }

    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        try volume.with { disk throws(CambiumError) in
            try disk.beginRead()
            disk.files[number].absorb()
            let bytes = disk.files[number].live
            let start = min(offset, bytes.count)
            return Array(bytes[start..<min(start + count, bytes.count)])
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        try volume.with { disk throws(CambiumError) in
            do throws(CambiumError) {
                try disk.begin()
            } catch {
                // A failed write leaves a part of its bytes in the file.
                if disk.crashOperation == nil { disk.files[number].write(Array(bytes.prefix(bytes.count / 2)), at: offset) }
                throw error
            }
            disk.files[number].write(bytes, at: offset)
        }
    }

    func truncate(to byteCount: Int) throws(CambiumError) {
        try volume.with { disk throws(CambiumError) in
            try disk.begin()
            disk.files[number].truncate(to: byteCount)
        }
    }

    func sync() throws(CambiumError) {
        try syncFailure.withLock { failure throws(CambiumError) in
            if let failure { throw failure }
            do throws(CambiumError) {
                try syncOnce()
            } catch {
                // Another simulated process may share this object. The death of one process must not make the syncs of the other fail.
                if !volume.isDead { failure = error }
                throw error
            }
        }
    }

    private func syncOnce() throws(CambiumError) {
        try volume.with { disk throws(CambiumError) in
            do throws(CambiumError) {
                try disk.begin()
            } catch {
                var random = SplitMix64(seed: UInt64(disk.operationCount))
                if disk.crashOperation == nil { disk.files[number].forget(&random) }
                throw error
            }
            disk.files[number].sync()
        }
    }

    func close() {}

    func map(byteCount: Int) throws(CambiumError) -> FileMapping? {
        try volume.with { disk throws(CambiumError) in
            try disk.beginRead()
            return disk.files[number].map(byteCount: byteCount, isWindow: false)
        }
    }

    func mapWindow(byteCount: Int) throws(CambiumError) -> FileMapping? {
        try volume.with { disk throws(CambiumError) in
            try disk.begin()
            return disk.files[number].map(byteCount: byteCount, isWindow: true)
        }
    }

    func preallocate(offset: Int, byteCount: Int) throws(CambiumError) {
        try volume.with { disk throws(CambiumError) in
            try disk.begin()
            disk.files[number].extend(to: offset + byteCount)
        }
    }
}
