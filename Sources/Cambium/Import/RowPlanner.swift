internal import CambiumBytes
import CambiumGraph
import CambiumJSON
import CambiumModel

/// Finds out what a row will do: which objects it describes and names, which of them are there, what each is given.
struct RowPlanner {
    /// How deeply objects may nest in a row.
    static let depthMax = 64

    let options: ImportOptions
    let entities: ImportEntities
    var plan = RowPlan()
    /// Each key of the row that maps to nothing.
    var unknownKeys: [String] = []
    var path = RowPath()
    let newObjects = NewObjects()
    /// Members of the relationships that are being planned: places in `plan.objects`.
    var pending: [Int] = []
    /// Relationships that the objects being planned give, those of an object behind those of the one that it is in.
    var given: [Given] = []
    var scratch: [UInt8] = []
    /// What the slots of a mapping hold, while an object is read.
    var found: [Finding] = []
    /// Whether a member of the relationship that is being planned was of the wrong type, and passed over.
    var isMismatched = false
    /// Members of relationships that a mapping made or found.
    var mapped: [MappedMembers] = []
    /// What the object that is being read is declared to be.
    var declared: EntityNumber
    /// Texts of discriminators that were met, and their entities.
    private var told: [(declared: EntityNumber, text: [UInt8], entity: ImportEntity)] = []

    /// A relationship that an object gives, and where.
    struct Given {
        let index: Int
        /// The token of the key; a place in `mapped` where `value` is negative.
        let key: Int
        let value: Int
    }

    init(options: ImportOptions, entities: ImportEntities, importing entity: ImportEntity) {
        self.options = options
        declared = entity.number
        self.entities = entities
    }

    /// Plans a row as an object of an entity, or of one of its sub-entities.
    mutating func plan(_ tokens: JSONTokens, as entity: ImportEntity, _ draft: borrowing Draft) throws(RowFailure) {
        plan.removeAll()
        path.removeAll()
        newObjects.removeAll()
        pending.removeAll(keepingCapacity: true)
        given.removeAll(keepingCapacity: true)
        mapped.removeAll(keepingCapacity: true)
        unknownKeys.removeAll(keepingCapacity: true)
        guard tokens.kind(0) == .object else {
            throw RowFailure(code: .notAnObject, pointer: "", message: "a row is an object, and this one is not")
        }
        plan.root = try object(0, entity, tokens, draft)
    }

    func failure(_ code: ImportReport.RowError.Code, _ tokens: JSONTokens, key: Int? = nil, _ message: String) -> RowFailure {
        RowFailure(code: code, pointer: path.pointer(tokens, key: key), message: message)
    }

    // MARK: Objects

    /// Plans an object that is described, and returns its place in the plan.
    mutating func object(
        _ token: Int, _ declared: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) -> Int {
        guard path.depth < Self.depthMax else { throw failure(.tooDeep, tokens, "objects nest more than \(Self.depthMax) deep") }
        var entity = try self.entity(of: token, declared, tokens)
        let firstValue = plan.values.count
        let firstGiven = given.count
        self.declared = declared.number
        try values(of: token, entity, tokens)
        let target = try self.target(entity, firstValue, tokens, draft)
        if case .existing(let row) = target, !entity.isAlone, let concrete = entities[draft.entity(entity.table, row)],
            concrete !== entity
        {
            guard entity.entity.family.contains(concrete.entity.number) else {
                throw failure(.duplicate, tokens, "an object of '\(concrete.entity.name)' has this identity already")
            }
            plan.forgetValues(from: firstValue)
            given.removeLast(given.count - firstGiven)
            entity = concrete
            try values(of: token, entity, tokens)
        }
        let place = plan.objects.count
        var isFilled = false
        switch target {
        case .existing(let row) where draft.isStub(entity.table, row):
            isFilled = true
            try completeStub(entity, row, tokens, draft)
        case .existing(let row) where options.existing == .skip && draft.isOriginal(entity.table, row):
            plan.forgetValues(from: firstValue)
            plan.objects.append(.init(entity: entity, target: .skipped(row), values: firstValue..<firstValue))
            given.removeLast(given.count - firstGiven)
            return place
        case .alias(let other) where plan.objects[other].isStub:
            isFilled = true
            try completeNew(entity, tokens, draft)
        case .new: try completeNew(entity, tokens, draft)
        default: try clearMissing(entity, tokens)
        }
        plan.objects.append(.init(entity: entity, target: target, isFilled: isFilled, values: firstValue..<plan.values.count))
        if case .new = target { newObjects.append(entity.entity.root, place) }
        if options.missing == .clear, case .existing = target {
            for index in entity.links.indices where !entity.isGivenLink(index) { clear(place, index) }
        }
        let endGiven = given.count
        for number in firstGiven..<endGiven {
            let next = given[number]
            if next.value < 0 {
                try link(place, next.index, mapped[next.key], tokens, draft)
            } else {
                try link(place, next.index, next.key, next.value, tokens, draft)
            }
        }
        given.removeLast(endGiven - firstGiven)
        return place
    }

    private mutating func entity(
        of token: Int, _ declared: ImportEntity, _ tokens: JSONTokens
    ) throws(RowFailure) -> ImportEntity {
        guard let path = declared.discriminatorPath, let found = path.value(in: token, tokens) else { return declared }
        let isText = tokens.kind(found) == .string
        let known =
            isText ? told.first { $0.declared == declared.number && ByteSearch.equals($0.text, tokens.bytes(found)) } : nil
        let entity: ImportEntity
        if let known {
            entity = known.entity
        } else {
            entity = try self.entity(told: isText ? tokens.string(found) : "", declared, tokens)
        }
        guard self.path.depth == 0 || declared.entity.family.contains(entity.entity.number) else {
            throw failure(.unknownEntity, tokens, "'\(entity.entity.name)' is no '\(declared.entity.name)'")
        }
        return entity
    }

    private mutating func entity(
        told text: String, _ declared: ImportEntity, _ tokens: JSONTokens
    ) throws(RowFailure) -> ImportEntity {
        guard let entity = entities[declared.discriminator?.map[text] ?? text] else {
            throw failure(.unknownEntity, tokens, "'\(declared.discriminator?.key ?? "")' is \"\(text)\", which is no entity")
        }
        told.append((declared.number, Array(text.utf8), entity))
        return entity
    }

    // MARK: What an object lacks

    /// A new object gets its defaults, or is refused.
    private mutating func completeNew(
        _ entity: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        if entity.entity.isAbstract {
            throw failure(
                .unknownEntity, tokens, "'\(entity.entity.name)' is abstract, and nothing tells which of its sub-entities this is")
        }
        for (index, attribute) in entity.attributes.enumerated() where !entity.isGivenAttribute(index) {
            if draft.hasDefault(entity.table, attribute: index) {
                plan.values.append(.init(attribute: index, form: .standard))
            } else if !attribute.isOptional {
                throw failure(.missingMandatory, tokens, "'\(attribute.name)' must have a value")
            }
        }
    }

    /// A stub that is filled has to have what a new object has.
    private mutating func completeStub(
        _ entity: ImportEntity, _ row: UInt32, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        for (index, attribute) in entity.attributes.enumerated()
        where !entity.isGivenAttribute(index) && draft.isNull(entity.table, row, attribute: index) {
            if draft.hasDefault(entity.table, attribute: index) {
                plan.values.append(.init(attribute: index, form: .standard))
            } else if !attribute.isOptional {
                throw failure(.missingMandatory, tokens, "'\(attribute.name)' must have a value")
            }
        }
    }

    private mutating func clearMissing(_ entity: ImportEntity, _ tokens: JSONTokens) throws(RowFailure) {
        guard options.missing == .clear else { return }
        for (index, attribute) in entity.attributes.enumerated()
        where !entity.isGivenAttribute(index) && !entity.isKeptAttribute(index) && !entity.identity.contains(index) {
            if !attribute.isOptional { throw failure(.missingMandatory, tokens, "'\(attribute.name)' must have a value") }
            plan.values.append(.init(attribute: index, form: .null))
        }
    }
}
