import ArgumentParser
import Cambium

/// The options that select a range of transactions by moments.
struct AuditRange: ParsableArguments {
    // `unconditional` accepts a minus sign, so that an error can state the wrong moment.
    @Option(
        parsing: .unconditional,
        help: .init(
            "Begin at this moment: \(Moment.forms).", discussion: "\(Moment.rules) As the moment of --from, a day means its beginning.",
            valueName: "moment"))
    var from: Moment?
    @Option(name: [.long, .customLong("at")], parsing: .unconditional, help: .init("End at this moment.", valueName: "moment"))
    var to: Moment?

    /// The numbers of the first and the last transaction; `nil` for a bound that was not given.
    struct Bounds {
        let first: TransactionNumber?
        let last: TransactionNumber?
    }

    func validate() throws {
        if case .transaction(let first)? = from?.point(.start), case .transaction(let last)? = to?.point(.end), first > last {
            throw ValidationError("The range is empty, because --from is later than --to. Exchange the moments.")
        }
    }

    /// Returns the bounds of the range. Throws `.notFound` if a moment does not exist.
    func bounds(in trail: AuditTrail, now: Timestamp = StoreEnvironment.system.now()) throws -> Bounds {
        let last = try to.map { moment in
            if case .transaction(let number) = moment.point(.end, now: now) { return number }
            return try trail.graph(at: moment.point(.end, now: now)).transaction
        }
        if let last, last < Self.first { throw AuditTrail.missing(last, try trail.newest()) }
        return Bounds(first: try from.map { try trail.firstTransaction(from: $0.point(.start, now: now)) }, last: last)
    }
}

/// The objects and the properties of the transactions that a command shows.
struct AuditEntityOptions: ParsableArguments {
    @Option(
        help: .init("Show only objects of this entity and of its sub-entities.", valueName: "name"),
        completion: .custom(NameCompletion.entities))
    var entity: String?

    /// Throws `.unknownName` if the newest schema does not have the entity.
    func selection(_ trail: AuditTrail) throws -> AuditEntity {
        AuditEntity(name: entity, number: try entity.map { try trail.graph(at: .latest).schema.required($0).number })
    }
}

/// The entity whose objects an audit shows; all entities if it has no name.
struct AuditEntity {
    let name: String?
    let number: EntityNumber?

    /// Returns whether the entity contains an object before or after a transaction.
    func contains(_ change: ObjectChange, _ step: TransactionStep) -> Bool {
        name.map { step.isObject(change.id, of: $0, number) } ?? true
    }
}
