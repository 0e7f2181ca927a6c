import Testing

struct BuildProductRuleTests {
    @Test func `no product of a build can be committed`() throws {
        let rule = try BuildProductRule(Repository.current.text(".gitignore"))
        // A fresh checkout has no products yet, so these names are checked, too.
        let certain = [".build", "Package.resolved", "Benchmarks/.build", "Benchmarks/Package.resolved"]
        try expectNone(rule.violations(paths: Repository.current.paths() + certain))
    }

    @Test(arguments: [".build", "Benchmarks/.build-small", "Package.resolved", "Sources/CRE2/shim.o"])
    func `a product that is not ignored is found`(path: String) {
        let rule = BuildProductRule(TextFile(path: ".gitignore", text: "# Package.resolved\n*.log\n.built/\n"))
        #expect(rule.violations(paths: ["Package.swift", path]).map(\.path) == [path])
    }

    @Test func `an ignored product and a source are accepted`() {
        let rule = BuildProductRule(TextFile(path: ".gitignore", text: ".build/\n.build-*/\nPackage.resolved\n*.o\n"))
        let paths = [".build", "A/.build", ".build-small", "Package.resolved", "A/a.o", "Sources/Build/o.swift"]
        #expect(rule.violations(paths: paths).isEmpty)
    }
}
