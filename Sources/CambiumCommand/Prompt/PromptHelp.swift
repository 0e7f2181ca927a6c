import Cambium

/// The help of the prompt.
enum PromptHelp {
    static func lines(_ schema: Schema) -> [String] {
        let entity = schema.entities.first { !$0.isAbstract && !$0.attributes.isEmpty }
        let name = entity?.name ?? "Note"
        let attribute = entity?.attributes.first?.name ?? "title"
        let condition = [name, "where", attribute, "!= null"].joined(separator: " ")
        let rows = [
            ("\(name)", "lists objects; also: find \(name)"),
            (condition, "lists the objects that satisfy a condition (Docs/Use/QUERIES.md)"),
            ("\(name) query NAME", "runs a query of the schema; 'where' narrows it, and $source is an object"),
            ("... sort -\(attribute)", "sorts; a key with - before it descends; also: order by"),
            ("... limit 10 offset 20", "shows a part of the rows"),
            ("... select \(attribute), tags.@count", "shows these values; 'distinct' removes repeated rows"),
            ("... count", "counts the rows; also: sum PATHS, min, max, avg, count-distinct"),
            ("... group by \(attribute)", "shows a row for each value; having CONDITION selects rows"),
            ("explain \(name) ...", "prints the steps of a query"),
            ("show \(name)/1", "shows one object; also: show \(name) IDENTITY; include PATHS nests others"),
            ("schema [\(name)]", "prints the schema"),
            ("set name=value", "gives a value to $name in conditions; 'set' alone lists them; name:=JSON takes a value or an array"),
            ("at MOMENT", "reads an earlier moment: \(Moment.forms); 'at now' returns to the newest one"),
            ("# TEXT", "is a comment"),
            ("help", "prints these lines, as ? does"),
            ("quit", "ends the prompt, as exit and ctrl-d do"),
        ]
        let width = rows.map(\.0.columnCount).max() ?? 0
        return rows.map { "\($0.0.padded(to: width))  \($0.1)" }
            + ["Tab completes names, the arrows recall lines, ctrl-r searches them, and ctrl-c cancels a query."]
    }
}
