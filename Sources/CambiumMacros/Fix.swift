#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// The title of a change that an editor offers.
    struct FixTitle: FixItMessage {
        let message: String
        var fixItID: MessageID { MessageID(domain: "Cambium", id: message) }
    }

    extension FixIt {
        /// Replaces a node. The spaces and comments around the node stay.
        static func replacing(_ node: some SyntaxProtocol, with text: String) -> FixIt {
            FixIt(message: FixTitle(message: "Replace '\(node.trimmedDescription)' with '\(text)'"), changes: [node.change(to: text)])
        }

        /// Inserts `text` and a space before a node.
        static func inserting(_ text: String, before node: some SyntaxProtocol) -> FixIt {
            let place = node.positionAfterSkippingLeadingTrivia
            return FixIt(
                message: FixTitle(message: "Insert '\(text)'"),
                changes: [.replaceText(range: place..<place, with: text + " ", in: Syntax(node))])
        }

        /// Inserts `text` directly after a node.
        static func inserting(_ text: String, after node: some SyntaxProtocol) -> FixIt {
            let place = node.endPositionBeforeTrailingTrivia
            return FixIt(
                message: FixTitle(message: "Insert '\(text)'"), changes: [.replaceText(range: place..<place, with: text, in: Syntax(node))])
        }

        /// Removes a node and the spaces after it.
        static func removing(_ node: some SyntaxProtocol) -> FixIt {
            FixIt(message: FixTitle(message: "Remove '\(node.trimmedDescription)'"), changes: [node.removal])
        }

        /// Removes a token. The spaces after the token stay, because an operator such as `=` may follow.
        static func erasing(_ token: TokenSyntax) -> FixIt {
            FixIt(message: FixTitle(message: "Remove '\(token.text)'"), changes: [token.change(to: "")])
        }

        /// Removes an option from its marker. If `@Attribute` has no other option, removes the whole marker, because a marker without
        /// options has no effect.
        static func removing(_ option: Option, from marker: Marker) -> FixIt {
            let title = FixTitle(message: "Remove '\(option.expression.trimmedDescription)'")
            let arguments = marker.attribute.arguments?.as(LabeledExprListSyntax.self).map(Array.init) ?? []
            let rest = arguments.filter { $0.expression.trimmedDescription != option.expression.trimmedDescription }
            let name = marker.attribute.attributeName.trimmedDescription
            if rest.isEmpty, marker.kind == .attribute { return FixIt(message: title, changes: [marker.attribute.removal]) }
            let list = rest.map { $0.with(\.trailingComma, nil).trimmedDescription }.joined(separator: ", ")
            return FixIt(message: title, changes: [marker.attribute.change(to: rest.isEmpty ? "@\(name)" : "@\(name)(\(list))")])
        }

        /// Adds an option to the marker of a property. If the property has no marker, adds `@Attribute` with this option.
        static func adding(_ option: String, to property: StoredProperty) -> FixIt {
            guard let marker = property.markers.first else {
                return inserting("@Attribute(\(option))", before: property.variable)
            }
            guard let first = marker.attribute.arguments?.as(LabeledExprListSyntax.self)?.first else {
                let text = "@\(marker.attribute.attributeName.trimmedDescription)(\(option))"
                return replacing(marker.attribute, with: text)
            }
            let place = first.positionAfterSkippingLeadingTrivia
            return FixIt(
                message: FixTitle(message: "Insert '\(option)'"),
                changes: [.replaceText(range: place..<place, with: option + ", ", in: Syntax(first))])
        }
    }

    extension SyntaxProtocol {
        /// Returns the change that replaces this node with `text`.
        func change(to text: String) -> FixIt.Change {
            .replaceText(range: positionAfterSkippingLeadingTrivia..<endPositionBeforeTrailingTrivia, with: text, in: Syntax(self))
        }

        /// The change that removes this node and the spaces after it.
        var removal: FixIt.Change {
            .replaceText(range: positionAfterSkippingLeadingTrivia..<endPosition, with: "", in: Syntax(self))
        }
    }
#endif
