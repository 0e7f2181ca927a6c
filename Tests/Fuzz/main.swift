import CLibFuzzer
import Foundation
import FuzzTargets

// Runs libFuzzer on one target: Fuzz TARGET [ITS ARGUMENTS]. With CAMBIUM_FUZZ_SEEDS, a directory, it writes the target's seeds
// there first.

/// What the fuzzer calls takes no argument of ours.
nonisolated(unsafe) private var target: FuzzTarget?

guard CommandLine.arguments.count > 1, let named = FuzzTarget.named(CommandLine.arguments[1]) else {
    print("usage: Fuzz TARGET [ARGUMENTS OF LIBFUZZER]; the targets are:")
    for target in FuzzTarget.all { print(target) }
    exit(64)
}
target = named
if let directory = ProcessInfo.processInfo.environment["CAMBIUM_FUZZ_SEEDS"] {
    for (number, seed) in try named.seeds().enumerated() {
        try Data(seed).write(to: URL(filePath: directory).appending(path: "seed-\(number)"))
    }
}

/// Aborting is what the fuzzer takes for a crash: it keeps the input.
private func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        try target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        FileHandle.standardError.write(Data("Finding: \(error)\n".utf8))
        abort()
    }
    return 0
}

// The name of the target is no argument of the fuzzer's.
var arguments = CommandLine.unsafeArgv + 1
var count = CommandLine.argc - 1
withUnsafeMutablePointer(to: &arguments) { arguments in
    let vector = UnsafeMutableRawPointer(arguments).assumingMemoryBound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self)
    exit(LLVMFuzzerRunDriver(&count, vector, { runOne($0, $1) }))
}
