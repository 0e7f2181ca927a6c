import Cambium
import Glibc

/// The environment variable `CAMBIUM_MEMORY`: the memory that the pages of the stores of a command may take.
enum MemorySetting {
    /// Sets the budget of all stores from the variable. Throws `.invalidInput` if it is set and is not a number of bytes.
    static func apply() throws(CambiumError) {
        guard let text = getenv("CAMBIUM_MEMORY").map({ String(cString: $0) }) else { return }
        guard let byteCount = byteCount(text) else {
            throw CambiumError(
                .invalidInput,
                "CAMBIUM_MEMORY is '\(text)', which is not a number of bytes. Set it to a number such as 536870912, 512M or 4G.")
        }
        MemoryBudget.setStandard(byteCount: byteCount)
    }

    /// Returns the number of bytes that a text such as `512M` states, or `nil` for any other text. The units are K, M and G.
    static func byteCount(_ text: String) -> Int? {
        let shift = ["K": 10, "M": 20, "G": 30][text.last.map(String.init) ?? ""]
        guard let count = Int(shift == nil ? text[...] : text.dropLast()), count >= 0 else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: 1 << (shift ?? 0))
        return overflow ? nil : product
    }
}
