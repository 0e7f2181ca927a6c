/// The directory for temporary files.
enum TemporaryDirectory {
    /// Returns the directory that a value of the environment variable TMPDIR names. Without a value, or with an empty one, it is `/tmp`.
    static func path(_ variable: String?) -> String {
        guard let variable, !variable.isEmpty else { return "/tmp" }
        return variable
    }
}
