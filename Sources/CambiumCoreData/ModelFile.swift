internal import CambiumModel
internal import Foundation

/// Finds the XML of a model on disk, and reads it.
enum ModelFile {
    static let byteCountMax = 16 << 20

    /// Returns the path of the `contents` file of the model at `path`.
    static func contents(of path: String) throws(CambiumError) -> String {
        guard let isFolder = try isFolder(path) else {
            throw CambiumError(.notFound, "No Core Data model exists at '\(path)'. Check the path.")
        }
        if !isFolder { return path }
        if let contents = try contents(inVersion: path) { return contents }
        let version = join(path, try currentVersion(path))
        if let contents = try contents(inVersion: version) { return contents }
        throw CambiumError(
            .invalidInput, "'\(version)' has no file 'contents', so it is not a Core Data model. Pass an '.xcdatamodeld' folder.")
    }

    static func read(_ file: String) throws(CambiumError) -> [UInt8] {
        let bytes: [UInt8]
        do {
            let url = URL(fileURLWithPath: file).resolvingSymlinksInPath()
            let type = try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
            guard type == .typeRegular else {
                throw CambiumError(
                    .invalidInput,
                    "'\(file)' is not a regular file, so it cannot contain a Core Data model. Pass an '.xcdatamodeld' folder.")
            }
            let handle = try FileHandle(forReadingFrom: url)
            bytes = [UInt8](try handle.read(upToCount: byteCountMax + 1) ?? Data())
            try handle.close()
        } catch let error as CambiumError {
            throw error
        } catch {
            throw unreadable(file, error)
        }
        return bytes
    }

    private static func unreadable(_ path: String, _ error: any Error) -> CambiumError {
        CambiumError(
            .ioFailure, "'\(path)' cannot be read: \(error.localizedDescription) Check the path and its permissions.", underlying: error)
    }

    // MARK: Versions

    /// Returns the name of the model's current version.
    private static func currentVersion(_ folder: String) throws(CambiumError) -> String {
        let versions = try versions(folder)
        if versions.isEmpty {
            throw CambiumError(
                .invalidInput,
                "'\(folder)' has neither a file 'contents' nor a folder whose name ends in '.xcdatamodel'. "
                    + "Pass an '.xcdatamodeld' folder.")
        }
        let listed = versions.map { "'\($0)'" }.joined(separator: ", ")
        guard let name = try versionName(join(folder, ".xccurrentversion")) else {
            if versions.count == 1 { return versions[0] }
            throw CambiumError(
                .invalidInput, "'\(folder)' does not state its current version. Pass the path of one of its versions: \(listed).")
        }
        // The name comes from a file. A name that is not in the list could lead outside the folder. The method returns the name from the
        // list, because the file may encode accents differently.
        guard let version = versions.first(where: { $0 == name }) else {
            throw CambiumError(
                .invalidInput,
                "The current version of '\(folder)' is '\(name)', but the folder has only the versions \(listed). "
                    + "Pass the path of one of them.")
        }
        return version
    }

    private static func versions(_ folder: String) throws(CambiumError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        } catch {
            throw unreadable(folder, error)
        }
    }

    /// Returns the version that an `.xccurrentversion` property list names, or `nil` if there is no such file or name.
    private static func versionName(_ file: String) throws(CambiumError) -> String? {
        guard try isFolder(file) == false else { return nil }
        let list = try ModelXML.parse(try read(file), file: file)
        let entries = list.children.first { $0.name == "dict" }?.children ?? []
        for (key, value) in zip(entries, entries.dropFirst()) where key.name == "key" && key.text == "_XCCurrentVersionName" {
            if value.name == "string" { return value.text }
        }
        return nil
    }

    private static func contents(inVersion folder: String) throws(CambiumError) -> String? {
        let file = join(folder, "contents")
        return try isFolder(file) == false ? file : nil
    }

    // MARK: Paths

    /// Returns whether `path` leads to a folder, or `nil` if nothing exists at `path`.
    private static func isFolder(_ path: String) throws(CambiumError) -> Bool? {
        if path.utf8.contains(0) { throw CambiumError(.invalidInput, "A path cannot contain a zero byte. Pass another path.") }
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) ? isFolder.boolValue : nil
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }
}
