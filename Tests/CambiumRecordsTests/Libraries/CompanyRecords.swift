import Cambium
import FoundationEssentials

/// Records like the structs of CoreValue's tests: shops, their employees, and partial views of both.
enum Companies {
    struct Employee: EntityRecord, Equatable {
        var name: String
        var age: Int16
        var position: String?
        var shop: Ref<Shop>?
        var ref: Ref<Employee>?

        static let recordSchema = RecordSchema<Employee>("Employee") {
            RecordProperty("name", \.name)
            RecordProperty("age", \.age, .default(0 as Int16))
            RecordProperty("position", \.position)
            RecordProperty("shop", \.shop, .inverse(\Shop.employees))
        }
        init(_ name: String, age: Int16 = 18, position: String? = nil) { (self.name, self.age, self.position) = (name, age, position) }
        init(from row: inout RecordReader) throws {
            (name, age, position, shop) = (try row.read(0), try row.read(1), try row.read(2), try row.read(3))
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write(0, &name)
            try row.write(1, &age)
            try row.write(2, &position)
            try row.write(3, &shop)
        }
    }

    struct Shop: EntityRecord, Equatable {
        var name: String
        var owner: Employee?
        var employees: [Employee]
        var ref: Ref<Shop>?

        static let recordSchema = RecordSchema<Shop>("Shop") {
            RecordProperty("name", \.name)
            RecordProperty("owner", \.owner)
            RecordProperty("employees", \.employees)
        }
        init(_ name: String, owner: Employee? = nil, employees: [Employee] = []) {
            (self.name, self.owner, self.employees) = (name, owner, employees)
        }
        init(from row: inout RecordReader) throws {
            (name, owner, employees) = (try row.read(0), try row.read(1), try row.read(2))
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write(0, &name)
            try row.write(1, &owner)
            try row.write(2, &employees)
        }
    }

    /// A view of an employee that has the name only.
    struct EmployeeName: EntityRecord, Equatable {
        var name: String
        var ref: Ref<EmployeeName>?

        static let recordSchema = RecordSchema<EmployeeName>("Employee") { RecordProperty("name", \.name) }
        init(_ name: String) { self.name = name }
        init(from row: inout RecordReader) throws {
            name = try row.read(0)
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws { try row.write(0, &name) }
    }

    /// A view of an employee that contains the shop, which contains the employee.
    struct ShopEmployee: EntityRecord, Equatable {
        var name: String
        var shop: EmployeeShop?
        var ref: Ref<ShopEmployee>?

        static let recordSchema = RecordSchema<ShopEmployee>("Employee") {
            RecordProperty("name", \.name)
            RecordProperty("shop", \.shop)
        }
        init(from row: inout RecordReader) throws {
            (name, shop) = (try row.read(0), try row.read(1))
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write(0, &name)
            try row.write(1, &shop)
        }
    }

    struct EmployeeShop: EntityRecord, Equatable {
        var name: String
        var employees: [ShopEmployee]
        var ref: Ref<EmployeeShop>?

        static let recordSchema = RecordSchema<EmployeeShop>("Shop") {
            RecordProperty("name", \.name)
            RecordProperty("employees", \.employees)
        }
        init(from row: inout RecordReader) throws {
            (name, employees) = (try row.read(0), try row.read(1))
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write(0, &name)
            try row.write(1, &employees)
        }
    }

    static func store() throws -> Store {
        try Store.inMemory(schema: Schema(of: Shop.self, Employee.self, ShopEmployee.self, EmployeeShop.self, EmployeeName.self))
    }
}
