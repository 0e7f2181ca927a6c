public import Cambium
public import CambiumModel
import Glibc

/// A disk in memory for tests of programs. The disk can fail, fill up or lose power at any operation, and a store can be opened on the
/// remaining files.
///
/// ```swift
/// let disk = TestDisk()
/// let store = try disk.create(schema: schema)
/// disk.fail(after: 3)
/// #expect(throws: CambiumError.self) { for _ in 0..<9 { try store.write { _ = try $0.insert("Note") } } }
/// let again = try disk.afterPowerFailure(seed: 1).open()
/// ```
///
/// An operation is a call that changes the disk: creating, writing, truncating, syncing, renaming or removing a file.
public final class TestDisk: Sendable {
    private let volume: FaultyVolume

    /// Creates an empty disk.
    public convenience init() { self.init(FaultyVolume()) }

    private init(_ volume: FaultyVolume) { self.volume = volume }

    /// Creates a store on the disk. Throws as `Store.create` does.
    public func create(
        schema: Schema, durability: Durability = .synced, environment: StoreEnvironment = .fixed()
    ) throws -> Store {
        try Store.create(volume, schema: schema, durability: durability, environment: environment)
    }

    /// Opens the store on the disk. Throws as `Store.open` does.
    public func open(environment: StoreEnvironment = .fixed()) throws -> Store {
        try Store.open(volume, durability: nil, environment: environment)
    }

    /// The number of operations so far.
    public var operationCount: Int { volume.operationCount }

    /// Whether the requested fault has happened.
    public var hasFailed: Bool { volume.hasFailed }

    /// Makes one operation fail after a number of successful operations, as on a disk with a bad sector.
    public func fail(after operationCount: Int = 0) { volume.fail(at: volume.operationCount + operationCount, with: EIO) }

    /// Makes one operation fail after a number of successful operations, as on a full disk.
    public func fillUp(after operationCount: Int = 0) { volume.fail(at: volume.operationCount + operationCount, with: ENOSPC) }

    /// Makes all operations fail after a number of successful ones, as if the process had ended.
    public func crash(after operationCount: Int = 0) { volume.crash(at: volume.operationCount + operationCount) }

    /// Returns a disk with the files as the process wrote them, without faults: the disk after a restart of the process.
    public func afterRestart() -> TestDisk { TestDisk(FaultyVolume(contents: volume.contents)) }

    /// Returns a disk with the files that a power failure at this moment may leave. Any of the changes that were not synced may be missing.
    ///
    /// - Parameter seed: Chooses the missing changes. The same seed always results in the same disk.
    public func afterPowerFailure(seed: UInt64) -> TestDisk { TestDisk(FaultyVolume(contents: volume.image(seed: seed))) }
}
