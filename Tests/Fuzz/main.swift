import CLibFuzzer
import Foundation
import FuzzTargets

// Runs libFuzzer on one target: `Fuzz TARGET [ARGUMENTS OF LIBFUZZER]`. If CAMBIUM_FUZZ_SEEDS names a directory, the program first writes
// the seeds of the target there.

/// The target that runs. The variable is global because libFuzzer passes no context to its callback.
nonisolated(unsafe) private var target: FuzzTarget?

// To merge a corpus, libFuzzer starts the program again with the same arguments, but without the target. The
// environment then names the target.
private let variable = "CAMBIUM_FUZZ_TARGET"
private let environment = ProcessInfo.processInfo.environment
guard let named = FuzzTarget.named(environment[variable] ?? CommandLine.arguments.dropFirst().first ?? "") else {
    print("usage: Fuzz TARGET [ARGUMENTS OF LIBFUZZER]; the targets are:")
    for target in FuzzTarget.all { print(target) }
    exit(64)
}
target = named
if environment[variable] == nil, let directory = environment["CAMBIUM_FUZZ_SEEDS"] {
    for (number, seed) in try named.seeds().enumerated() {
        try Data(seed).write(to: URL(filePath: directory).appending(path: "seed-\(number)"))
    }
}

/// Runs one input. Aborts after a finding, so that libFuzzer sees a crash and keeps the input.
private func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        try target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        FileHandle.standardError.write(Data("Finding: \(error)\n".utf8))
        abort()
    }
    return 0
}

var arguments = CommandLine.unsafeArgv
var count = CommandLine.argc
if environment[variable] == nil {
    setenv(variable, named.name, 1)
    arguments[1] = arguments[0]
    arguments += 1
    count -= 1
}
withUnsafeMutablePointer(to: &arguments) { arguments in
    let vector = UnsafeMutableRawPointer(arguments).assumingMemoryBound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self)
    exit(LLVMFuzzerRunDriver(&count, vector, { runOne($0, $1) }))
}
