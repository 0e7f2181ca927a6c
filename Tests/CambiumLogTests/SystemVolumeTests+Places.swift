import CambiumModel
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog

/// Links, locks, paths and directories of a volume.
extension SystemVolumeTests {
    @Test func `a file can be linked into another directory, but not to another file system`() throws {
        try inDirectory { volume in
            let other = SystemVolume(root: volume.root + "/other")
            try other.createDirectory("")
            try volume.create("log/file", [1, 2, 3])
            #expect(try volume.link("log/file", into: other, as: "second"))
            #expect(throws: CambiumError.self) { try volume.link("log/file", into: other, as: "second") }
            #expect(throws: CambiumError.self) { try volume.link("log/none", into: other, as: "third") }
            try volume.replace("log/file", [4])
            #expect(try other.bytes(of: "second") == [1, 2, 3] && volume.bytes(of: "log/file") == [4])
            #expect(try !volume.link("log/file", into: MemoryVolume(), as: "second"))
            // A link to a file of /proc is refused with the error for a link to another file system.
            #expect(try !SystemVolume(root: "/proc/self").link("status", into: other, as: "status") && !other.exists("status"))
        }
    }

    @Test func `a lock file is never truncated, and is written only if it is empty or holds a process id`() throws {
        try inDirectory { volume in
            for content in ["", "4711\n", "4711                \n"] {
                try Data(content.utf8).write(to: URL(filePath: volume.root + "/LOCK"))
                let lock = try volume.lock("LOCK")
                #expect(try LockHolder.process(volume.bytes(of: "LOCK")) == getpid())
                #expect(throws: CambiumError.self) { try volume.lock("LOCK") }
                lock.unlock()
                #expect(try volume.bytes(of: "LOCK") == LockHolder.bytes(nil))
            }
            for content in ["some text of somebody", "12 apples", String(repeating: "1", count: 22)] {
                try Data(content.utf8).write(to: URL(filePath: volume.root + "/LOCK"))
                let lock = try volume.lock("LOCK")
                #expect(throws: CambiumError.self) { try volume.lock("LOCK") }
                lock.unlock()
                #expect(try volume.bytes(of: "LOCK") == Array(content.utf8))
            }
        }
    }

    @Test func `a file system that locks exclusively only what is open for writing shows which files are shared`() throws {
        var calls = SystemCalls()
        calls.flock = { descriptor, operation in
            if operation & LOCK_EX == 0 || fcntl(descriptor, F_GETFL) & O_RDWR != 0 {
                return SystemCalls.system.flock(descriptor, operation)
            }
            errno = EBADF
            return -1
        }
        try inDirectory(calls) { volume in
            let lock = try volume.lock("LOCK")
            #expect(throws: CambiumError.self) { try volume.lock("LOCK") }
            lock.unlock()
            for name in ["file", "file.new"] { try volume.create(name, [1]) }
            let share = try volume.share("file")
            #expect(try volume.isShared("file") && !volume.isShared("file.new") && !volume.isShared("none"))
            #expect(try !volume.removeUnlessShared("file") && !volume.renameUnlessShared("file.new", to: "file"))
            share.unlock()
            #expect(try volume.renameUnlessShared("file.new", to: "file") && volume.removeUnlessShared("file"))
            #expect(try volume.list("") == ["LOCK", "log"])
        }
    }

    @Test func `a volume with a relative path stays in its directory if the process changes its working directory`() throws {
        try inDirectory { base in
            let (manager, here) = (FileManager.default, FileManager.default.currentDirectoryPath)
            defer { _ = manager.changeCurrentDirectoryPath(here) }
            #expect(manager.changeCurrentDirectoryPath(base.root))
            let (volume, empty) = (SystemVolume(root: "one/"), SystemVolume(root: ""))
            #expect(manager.changeCurrentDirectoryPath(base.root + "/log"))
            try volume.createDirectory("")
            #expect(try base.exists("one") && base.list("log").isEmpty)
            #expect(volume.name == "one" && empty.name.isEmpty && empty.root.isEmpty)
        }
    }

    @Test func `paths are divided and compared by their bytes`() throws {
        try inDirectory { base in
            let deep = SystemVolume(root: base.root + "/some/\u{301}place")
            try deep.createDirectory("")
            #expect(try base.exists("some/\u{301}place"))
            #expect(throws: CambiumError.self) { try deep.checkIsOutside(of: SystemVolume(root: base.root + "/some")) }
            let (composed, decomposed) = (SystemVolume(root: base.root + "/\u{E9}"), SystemVolume(root: base.root + "/e\u{301}"))
            for volume in [composed, decomposed] { try volume.createDirectory("") }
            #expect(throws: Never.self) { try composed.checkIsOutside(of: decomposed) }
            #expect(throws: CambiumError.self) { try composed.checkIsOutside(of: composed) }
        }
        #expect(SystemVolume(root: "/\u{301}place").root.utf8.elementsEqual("/\u{301}place".utf8))
    }

    @Test func `a directory in place of a file is neither removed nor replaced`() throws {
        try inDirectory { volume in
            try volume.createDirectory("taken")
            try volume.create("file", [1])
            let errors = [
                #expect(throws: CambiumError.self) { try volume.remove("taken") },
                #expect(throws: CambiumError.self) { try volume.rename("file", to: "taken") },
            ]
            #expect(errors.allSatisfy { $0?.code == .corrupted && $0?.message.contains("/taken' is not a regular file") == true })
            #expect(try volume.kind(of: "taken") == .directory && volume.bytes(of: "file") == [1])
        }
    }

    @Test func `a ring of links contains no files`() throws {
        try inDirectory { base in
            let ring = SystemVolume(root: base.root + "/ring")
            try FileManager.default.createSymbolicLink(atPath: ring.root, withDestinationPath: ring.root)
            #expect(try ring.kind(of: "file") == nil && !ring.exists("file") && ring.list("log").isEmpty)
            #expect(try base.kind(of: "ring") == .other)
        }
    }

    @Test(arguments: [EISDIR, ENXIO, ENODEV])
    func `the error about a path that leads to a directory, a socket or a missing device advises to use a file`(code: Int32) {
        #expect(SystemFailure.error("open", "place", code).message.hasSuffix(". Use the path of a regular file."))
    }

    @Test func `directories that were created for a failed operation are removed, and others stay`() throws {
        struct Failure: Error {}
        try inDirectory { base in
            let volume = SystemVolume(root: base.root + "/one/two")
            #expect(throws: Failure.self) { try volume.withDirectory { throw Failure() } }
            #expect(try !base.exists("one"))
            try base.createDirectory("one")
            #expect(throws: Failure.self) { try volume.withDirectory { throw Failure() } }
            #expect(try base.list("one").isEmpty && base.exists("one"))
            #expect(try volume.withDirectory { try base.exists("one/two") })
        }
    }

    /// Returns the error with which a second attempt to take a lock is refused.
    private func refusal(_ volume: SystemVolume) -> CambiumError? { #expect(throws: CambiumError.self) { _ = try volume.lock("LOCK") } }

    @Test func `a refused lock names the process that holds it, unless this process does`() throws {
        try inDirectory { volume in
            let lock = try volume.lock("LOCK")
            let own = try #require(refusal(volume))
            #expect(own.code == .locked && own.message.hasPrefix("This process ") && !own.message.contains("\(getpid())"))
            lock.unlock()
            try volume.lock("LOCK").unlock()
            let other = open(volume.root + "/LOCK", O_RDWR)
            defer { close(other) }
            #expect(flock(other, LOCK_EX) == 0)
            for (holder, part) in [("", "Another process has"), ("\(getpid())\n", "Another process has"), ("77\n", "process (process 77)")]
            {
                ftruncate(other, 0)
                pwrite(other, holder, holder.utf8.count, 0)
                let error = try #require(refusal(volume))
                #expect(error.code == .locked && error.message.contains(part), "\(error)")
            }
        }
    }

    @Test(arguments: [(0, 0), (1, 1), (7, 3), (500, 15)])
    func `a lock is awaited with pauses that add up to the limit`(milliseconds: Int, count: Int) throws {
        try inDirectory { volume in
            let lock = try volume.lock("LOCK")
            var pauses: [Duration] = []
            let limit = Duration.milliseconds(milliseconds)
            let error = #expect(throws: CambiumError.self) { _ = try volume.lock("LOCK", waitingUpTo: limit) { pauses.append($0) } }
            #expect(error?.code == .locked && pauses.count == count && pauses.reduce(.zero, +) == limit, "\(pauses)")
            #expect(pauses.allSatisfy { $0 <= LockPause.longest })
            pauses = []
            _ = try volume.lock("LOCK", waitingUpTo: .seconds(3600)) { pause in
                pauses.append(pause)
                if pauses.count == 9 { lock.unlock() }
            }
            #expect(pauses.count == 9)
        }
    }

    @Test func `a path names an open file until the file is renamed, replaced or removed`() throws {
        try inDirectory { volume in
            let file = try volume.open("log/file", .create)
            #expect(try volume.names("log/file", file))
            try volume.rename("log/file", to: "log/other")
            #expect(try !volume.names("log/file", file) && volume.names("log/other", file))
            try volume.open("log/file", .create).close()
            #expect(try !volume.names("log/file", file))
            try volume.remove("log/other")
            #expect(try !volume.names("log/other", file))
        }
    }
}
