import Foundation
import Testing

@testable import CambiumGraph

/// Memory limits in the kernel's control group files.
@Suite final class ControlGroupTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "cambium-group-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ text: String, to path: String) throws {
        let directory = root + "/" + path.split(separator: "/").dropLast().joined(separator: "/")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data((text + "\n").utf8).write(to: URL(filePath: root + path))
    }

    private var limit: Int? { ControlGroup.memoryLimit(root: root) }

    @Test func `the smallest limit of a unit and of the groups above it counts`() throws {
        try write("0::/system.slice/notes.service", to: "/proc/self/cgroup")
        #expect(limit == nil)
        try write("max", to: "/sys/fs/cgroup/system.slice/memory.max")
        try write("536870912", to: "/sys/fs/cgroup/system.slice/notes.service/memory.max")
        #expect(limit == 512 << 20)
        try write("268435456", to: "/sys/fs/cgroup/system.slice/memory.max")
        #expect(limit == 256 << 20)
        try write("134217728", to: "/sys/fs/cgroup/memory.max")
        #expect(limit == 128 << 20)
    }

    @Test func `groups of the first version are read`() throws {
        try write("12:cpu,cpuacct:/a\n4:memory:/docker/abc\n1:name=systemd:/x\n0::/y", to: "/proc/self/cgroup")
        try write("1000", to: "/sys/fs/cgroup/memory/x/memory.limit_in_bytes")
        try write("9223372036854771712", to: "/sys/fs/cgroup/memory/memory.limit_in_bytes")
        #expect(limit == 9_223_372_036_854_771_712)
        try write("734003200", to: "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes")
        #expect(limit == 700 << 20)
    }

    @Test func `text that is not a limit sets no limit`() throws {
        #expect(limit == nil)
        try write("nonsense\n0::/../outside\n:::\n", to: "/proc/self/cgroup")
        try write("5", to: "/sys/fs/outside/memory.max")
        try write("max", to: "/sys/fs/cgroup/memory.max")
        #expect(limit == nil)
        try write("99999999999999999999999", to: "/sys/fs/cgroup/memory.max")
        #expect(limit == nil)
    }
}
