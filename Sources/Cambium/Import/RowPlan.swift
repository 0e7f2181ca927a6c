import CambiumGraph
import CambiumJSON
import CambiumModel

/// What one row will do: found out, and checked, before any of it is done.
struct RowPlan {
    enum Target {
        case new
        case existing(UInt32)
        /// The object at another place in `objects`.
        case alias(Int)
        /// It is there and is left alone.
        case skipped(UInt32)
    }

    struct Object {
        let entity: ImportEntity
        let target: Target
        var isStub = false
        /// A stub that is one no longer.
        var isFilled = false
        /// Whether the row describes it, rather than naming it.
        var isDescribed = true
        var values: Range<Int>

        /// Whether it is there and is left alone.
        var isSkipped: Bool { if case .skipped = target { true } else { false } }
    }

    struct Value {
        enum Form {
            case null
            case fixed(UInt64, UInt64)
            case text(token: Int)
            case scratch(Range<Int>)
            /// The attribute's default.
            case standard
        }

        let attribute: Int
        let form: Form

        var isNull: Bool { if case .null = form { true } else { false } }
    }

    struct Link {
        enum Change { case target, replace, append }

        let owner: Int
        let link: Int
        let change: Change
        let targets: Range<Int>
    }

    var objects: [Object] = []
    /// The place of the row's own object.
    var root = 0
    /// Whether `note` is called for objects that a row only names, too.
    var notesNames = false
    var values: [Value] = []
    var links: [Link] = []
    /// Places in `objects`.
    var targets: [Int] = []
    private var scratch: [UInt8] = []
    /// The row of each object, while the plan is applied.
    private var rows: [UInt32] = []

    mutating func removeAll() {
        objects.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        links.removeAll(keepingCapacity: true)
        targets.removeAll(keepingCapacity: true)
        scratch.removeAll(keepingCapacity: true)
    }

    /// Plans a value that was read from a token.
    mutating func append(_ attribute: Int, _ form: ScalarForm, token: Int, scratch bytes: [UInt8]) {
        switch form {
        case .null: values.append(Value(attribute: attribute, form: .null))
        case .fixed(let low, let high): values.append(Value(attribute: attribute, form: .fixed(low, high)))
        case .text: values.append(Value(attribute: attribute, form: .text(token: token)))
        case .scratch:
            let start = scratch.count
            scratch.append(contentsOf: bytes)
            values.append(Value(attribute: attribute, form: .scratch(start..<scratch.count)))
        }
    }

    mutating func forgetValues(from first: Int) { values.removeLast(values.count - first) }

    /// Calls `body` with the stored form of a planned value; with nil for the attribute's default.
    @inline(__always)
    func withCell<R>(_ value: Value, _ tokens: JSONTokens, _ body: (Cell?) -> R) -> R {
        switch value.form {
        case .null: body(.null)
        case .fixed(let low, let high): body(.fixed(low, high))
        case .text(let token): body(.bytes(tokens.bytes(token)))
        case .scratch(let range): scratch.withUnsafeBytes { body(.bytes(UnsafeRawBufferPointer(rebasing: $0[range]))) }
        case .standard: body(nil)
        }
    }

    // MARK: Doing it

    /// The row's own object, once the plan was applied.
    var rootRow: UInt32 { rows[root] }

    /// Applies the plan. `note` is called with the row of each object that the row describes.
    mutating func apply(
        to draft: inout Draft, _ tokens: JSONTokens, note: (Object, UInt32) -> Void
    ) throws(CambiumError) {
        rows.removeAll(keepingCapacity: true)
        for object in objects {
            switch object.target {
            case .new: rows.append(try insert(object, &draft, tokens))
            case .existing(let row):
                rows.append(row)
                change(object, row, &draft, tokens)
            case .skipped(let row): rows.append(row)
            case .alias(let other):
                rows.append(rows[other])
                change(object, rows[other], &draft, tokens)
            }
            if object.isDescribed || notesNames { note(object, rows[rows.count - 1]) }
        }
        for link in links { apply(link, &draft) }
    }

    private func insert(_ object: Object, _ draft: inout Draft, _ tokens: JSONTokens) throws(CambiumError) -> UInt32 {
        let table = object.entity.table
        let row = try draft.beginInsert(table)
        for value in values[object.values] {
            withCell(value, tokens) { cell in
                if let cell {
                    draft.initialize(table, row, attribute: value.attribute, cell)
                } else {
                    draft.initializeDefault(table, row, attribute: value.attribute)
                }
            }
        }
        draft.endInsert(table, row, isStub: object.isStub)
        object.entity.scanned?.note(row, draft)
        return row
    }

    private func change(_ object: Object, _ row: UInt32, _ draft: inout Draft, _ tokens: JSONTokens) {
        let table = object.entity.table
        for value in values[object.values] {
            withCell(value, tokens) { cell in
                if let cell {
                    draft.change(table, row, attribute: value.attribute, cell)
                } else {
                    draft.changeToDefault(table, row, attribute: value.attribute)
                }
            }
        }
        if object.isFilled, draft.isStub(table, row) { draft.fill(table, row) }
    }

    private func apply(_ link: Link, _ draft: inout Draft) {
        let handle = objects[link.owner].entity.links[link.link].handle
        let owner = rows[link.owner]
        if link.change == .target {
            draft.setTarget(handle, owner, link.targets.first.map { rows[targets[$0]] })
            return
        }
        var members: [UInt32] = []
        members.reserveCapacity(link.targets.count)
        for target in targets[link.targets] { members.append(rows[target]) }
        if members.count > 1 { members = Self.distinct(members) }
        if link.change == .replace {
            draft.replaceMembers(handle, owner, members)
        } else {
            draft.appendMembers(handle, owner, members)
        }
    }

    /// Without repetitions; of equal ones the first stays.
    private static func distinct(_ rows: [UInt32]) -> [UInt32] {
        if rows.count <= 16 {
            var kept: [UInt32] = []
            for row in rows where !kept.contains(row) { kept.append(row) }
            return kept
        }
        var seen = Set<UInt32>()
        return rows.filter { seen.insert($0).inserted }
    }
}
