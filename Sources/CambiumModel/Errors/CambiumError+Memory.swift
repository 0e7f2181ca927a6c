internal import CambiumBytes

extension CambiumError {
    /// The error for a step that needs more memory than the limits of the process leave.
    ///
    /// - Parameter need: The use of the memory, such as "the pages of a graph".
    package static func outOfMemory(_ need: String) -> CambiumError {
        let left = ProcessMemory.leftByteCount.map { "leave \($0 >> 20) MiB, which is" } ?? "leave"
        return CambiumError(
            .ioFailure,
            "The limits of the process \(left) too little memory for \(need). Raise the limit ('ulimit -v' or 'ulimit -d'). "
                + "If only data is limited, a smaller memory budget helps, too (for the command line, a lower CAMBIUM_MEMORY).")
    }

    /// Throws `.ioFailure` if the limits of the process leave less than this many bytes of memory.
    package static func checkMemory(_ byteCount: Int, for need: @autoclosure () -> String) throws(CambiumError) {
        if !ProcessMemory.has(byteCount) { throw outOfMemory(need()) }
    }
}
