/// The directory for temporary files.
enum TemporaryDirectory {
    /// Returns the directory that a value of the environment variable TMPDIR names; `/tmp` if there is no value, or if it is empty.
    static func path(_ variable: String?) -> String {
        guard let variable, !variable.isEmpty else { return "/tmp" }
        return variable
    }
}
