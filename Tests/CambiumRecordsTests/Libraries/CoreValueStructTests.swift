import Cambium
import FoundationEssentials
import Testing

/// The cases of CoreValue's own tests for structs that are saved, in this API.
@Suite("CoreValue's cases: structs that are saved")
struct CoreValueStructTests {
    typealias Employee = Companies.Employee
    typealias Shop = Companies.Shop

    private let store: Store

    init() throws { store = try Companies.store() }

    private func company() -> Shop {
        Shop("Company", employees: (1...4).map { Employee("\($0)", age: Int16($0 * 10)) })
    }

    private func employeeCount() throws -> Int { try store.graph.count(RecordQuery<Employee>()) }

    @Test("values and a null are written and read")
    func values() throws {
        var employees = [Employee("John", age: 20, position: "Manager"), Employee("Nobody", age: 14)]
        try store.save(&employees)
        let read = try store.graph.fetch(Employee.self)
        #expect(read == employees)
        #expect(read.map(\.position) == ["Manager", nil])
    }

    @Test("a nested struct is saved and read with its owner")
    func nested() throws {
        var shop = Shop("Carl's", owner: Employee("Carl", age: 66))
        try store.save(&shop)
        #expect(try store.graph.fetch(Shop.self).map(\.owner?.name) == ["Carl"])
        #expect(shop.owner?.ref != nil)
    }

    @Test("nested structs keep their order, and get their refs")
    func array() throws {
        var company = company()
        try store.save(&company)
        #expect(company.employees.allSatisfy { $0.ref != nil })
        #expect(try store.graph.fetch(Shop.self).first?.employees.map(\.name) == ["1", "2", "3", "4"])
    }

    @Test("an array without members is empty, and a query finds a shop by its name")
    func emptyArray() throws {
        var shops = [Shop("a", employees: [Employee("Pat")]), Shop("b")]
        try store.save(&shops)
        let found = try store.graph.fetch(Shop.self) { $0.name == "b" }
        #expect(found.count == 1)
        #expect(found.first?.employees.isEmpty == true)
    }

    @Test("saving an owner twice keeps its members")
    func savedTwice() throws {
        var company = company()
        try store.save(&company)
        let refs = company.employees.map(\.ref)
        let receipt = try store.save(&company)
        #expect(company.employees.map(\.ref) == refs)
        #expect(!receipt.hasChanges)
        #expect(try employeeCount() == 4)
    }

    @Test("saving an owner twice keeps its nested struct, and nil unlinks it")
    func nestedSavedTwice() throws {
        var shop = Shop("Carl's", owner: Employee("Carl", age: 66))
        try store.save(&shop)
        let ref = shop.owner?.ref
        let receipt = try store.save(&shop)
        #expect(!receipt.hasChanges)
        #expect(shop.owner?.ref == ref)
        shop.owner = nil
        try store.save(&shop)
        #expect(try store.graph.fetch(Shop.self).map(\.owner) == [nil])
        #expect(try employeeCount() == 1)
    }

    @Test("an optional array is read as an array, and nil unlinks its members")
    func optionalArray() throws {
        struct Team: BlankRecord {
            var name = ""
            var employees: [Employee]?
            var ref: Ref<Team>?
            static let recordSchema = RecordSchema<Team>("Shop") {
                RecordProperty("name", \.name)
                RecordProperty("employees", \.employees)
            }
        }
        var company = company()
        try store.save(&company)
        var team = try #require(try store.graph.fetch(Team.self).first)
        #expect(team.employees?.map(\.name) == ["1", "2", "3", "4"])
        team.employees = nil
        try store.save(&team)
        #expect(try store.graph.fetch(Team.self).first?.employees?.isEmpty == true)
        #expect(try employeeCount() == 4)
    }

    @Test("a member that was removed is unlinked, and stays in the store")
    func removed() throws {
        var company = company()
        try store.save(&company)
        company.employees.removeFirst()
        try store.save(&company)
        #expect(try store.graph.fetch(Shop.self).first?.employees.map(\.name) == ["2", "3", "4"])
        company.employees.removeAll()
        try store.save(&company)
        #expect(try store.graph.fetch(Shop.self).first?.employees.isEmpty == true)
        #expect(try employeeCount() == 4)
    }

    @Test("a struct that was not saved before is inserted for each of two owners")
    func unsavedMember() throws {
        let john = Employee("John")
        var shops = [Shop("1", employees: [john]), Shop("2", employees: [john])]
        try store.save(&shops)
        #expect(try employeeCount() == 2)
    }

    @Test("a struct that was saved before is the same object for two owners")
    func savedMember() throws {
        var john = Employee("John")
        try store.save(&john)
        var shops = [Shop("1", employees: [john]), Shop("2", employees: [john])]
        try store.save(&shops)
        #expect(try employeeCount() == 1)
        #expect(try store.graph.fetch(Shop.self).map(\.employees.count) == [0, 1])
    }

    @Test("a partial struct inserts defaults, and changes only its properties")
    func partial() throws {
        var john = Employee("John", age: 30, position: "Clerk")
        try store.save(&john)
        var name = try #require(try store.graph.fetch(Companies.EmployeeName.self).first)
        name.name = "Johnny"
        try store.save(&name)
        let read = try store.graph.fetch(Employee.self)
        #expect(read.map(\.name) == ["Johnny"])
        #expect(read.map(\.age) == [30])
        #expect(read.map(\.position) == ["Clerk"])
        var jim = Companies.EmployeeName("Jim")
        try store.save(&jim)
        #expect(try store.graph.fetch(Employee.self).map(\.age) == [30, 0])
    }

    @Test("updates of two structs do not insert")
    func updates() throws {
        var shops = [Shop("shop1"), Shop("shop2")]
        try store.save(&shops)
        try store.save(&shops[0])
        try store.save(&shops[1])
        #expect(try store.graph.fetch(Shop.self) { $0.name == "shop1" }.count == 1)
    }

    @Test("a deleted struct has no ref, and its next save inserts it")
    func deletion() throws {
        var shops = [Shop("shop1"), Shop("shop2")]
        try store.save(&shops)
        try store.delete(&shops[1])
        #expect(try store.graph.fetch(Shop.self).map(\.name) == ["shop1"])
        #expect(shops[1].ref == nil)
        try store.save(&shops[1])
        #expect(try store.graph.fetch(Shop.self).map(\.name) == ["shop1", "shop2"])
    }

    @Test("structs that contain each other are read without an endless loop")
    func cycle() throws {
        var shop = Shop("Carpets", employees: [Employee("John")])
        try store.save(&shop)
        let read = try store.graph.fetch(Companies.EmployeeShop.self)
        #expect(read.map(\.employees.first?.name) == ["John"])
        #expect(read.first?.employees.first?.shop == nil)
        let employee = try #require(try store.graph.fetch(Companies.ShopEmployee.self).first)
        #expect(employee.shop?.name == "Carpets")
        #expect(employee.shop?.employees.isEmpty == true)
    }
}
