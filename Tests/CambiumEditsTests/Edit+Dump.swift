import Cambium

extension Edit {
    /// All that an edit shows: each object with its values and members, one line each.
    var dump: [String] {
        schema.entities.flatMap { entity in
            ["\(entity.name): \(count(of: entity))"]
                + objects(of: entity).map { id in
                    let own = self.entity(of: id)
                    let values = (own?.attributes ?? []).map { "\($0.name)=\(self[id, $0] ?? .null)" }
                    let links = (own?.relationships ?? []).map { "\($0.name)=\(members($0, of: id) ?? [])" }
                    return "\(id) \(own?.name ?? "?") \((values + links).joined(separator: " "))"
                }
        }
    }
}
