#if Macros
    import SwiftSyntax

    /// Reports mistakes that concern the struct as a whole, such as generic parameters. Also reports names that an entity cannot have.
    struct StructCheck {
        private let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        func findMistakes(_ findings: inout Findings) {
            checkKind(&findings)
            checkAccess(&findings)
            checkName(&findings)
            checkConditions(&findings)
            checkPresence(&findings)
        }

        private func checkKind(_ findings: inout Findings) {
            let name = entity.typeName
            if let clause = entity.structure.genericParameterClause {
                let mistake = Mistake(
                    "genericStruct", "'\(name)' is generic, but all objects of an entity have the same properties.",
                    "Remove the generic parameters.")
                findings.add(mistake, at: clause)
            }
            if let outer = entity.genericOuter {
                let mistake = Mistake(
                    "genericOuter", "'\(name)' is inside the generic '\(outer)', but all objects of an entity have the same properties.",
                    "Move '\(name)' out of '\(outer)'.")
                findings.add(mistake, at: entity.structure.name)
            }
            for parent in entity.structure.inheritanceClause?.inheritedTypes ?? [] where parent.type.is(SuppressedTypeSyntax.self) {
                let mistake = Mistake(
                    "noncopyableStruct", "'\(name)' cannot be copied, but a record is a value that programs copy.",
                    "Remove '\(parent.type.trimmedDescription)'.")
                findings.add(mistake, at: parent.type)
            }
        }

        private func checkAccess(_ findings: inout Findings) {
            if let outer = entity.privateOuter {
                let mistake = Mistake(
                    "privateOuter",
                    "@Entity adds an extension of '\(entity.typeName)', which cannot see the private type '\(outer)' around it.",
                    "Write 'fileprivate' before '\(outer)'.")
                findings.add(mistake, at: entity.structure.name)
            }
            guard entity.isPrivateInside else { return }
            guard let access = entity.structure.modifiers.first(where: { $0.name.text == "private" }) else { return }
            let mistake = Mistake(
                "privateStruct",
                "@Entity adds an extension of '\(entity.typeName)', which cannot see a private struct inside another type.",
                "Write 'fileprivate'.")
            findings.add(mistake, at: access, fix: .replacing(access, with: "fileprivate"))
        }

        private func checkName(_ findings: inout Findings) {
            let argument = entity.arguments.nameArgument
            if let argument, entity.arguments.name == nil, !argument.is(NilLiteralExprSyntax.self) {
                let mistake = Mistake(
                    "computedName", "The name of the entity is not a string literal, so @Entity cannot check it.",
                    "Write the name in quotation marks, without interpolation.")
                findings.add(mistake, at: argument)
            } else if let argument, entity.arguments.name?.isEmpty == true {
                let mistake = Mistake(
                    "emptyName", "The name of the entity is empty.", "Write a name, or omit the argument to use '\(entity.typeName)'.")
                findings.add(mistake, at: argument, fix: .replacing(argument, with: "\"\(entity.typeName)\""))
            } else if let flaw = StoreName.flaw(of: entity.entityName) {
                let mistake = Mistake(
                    "entityName", "The store refuses the name '\(entity.entityName)' of the entity, because \(flaw).",
                    "Write another name, such as @Entity(\"\(StoreName.repaired(entity.entityName) ?? "Item")\").")
                if let argument { findings.add(mistake, at: argument) } else { findings.add(mistake, at: entity.structure.name) }
            }
        }

        private func checkConditions(_ findings: inout Findings) {
            for member in entity.structure.memberBlock.members {
                guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { continue }
                guard let property = Self.properties(in: condition).first(where: { !$0.isTransient }) else { continue }
                let mistake = Mistake(
                    "conditionalProperty",
                    "A schema has the same properties in every build, but '#if' makes '\(property.name)' conditional.",
                    "Move the property out of '#if', or mark it with @Transient.")
                findings.add(mistake, at: property.identifier)
            }
        }

        /// Returns the properties in all branches of an `#if`, and of each `#if` inside it.
        private static func properties(in condition: IfConfigDeclSyntax) -> [StoredProperty] {
            let members = condition.clauses.compactMap { $0.elements?.as(MemberBlockItemListSyntax.self) }.flatMap { $0.map(\.decl) }
            return members.flatMap { member -> [StoredProperty] in
                if let inner = member.as(IfConfigDeclSyntax.self) { return properties(in: inner) }
                return member.as(VariableDeclSyntax.self).map(StoredProperty.all) ?? []
            }
        }

        private func checkPresence(_ findings: inout Findings) {
            let hasOthers = entity.arguments.hasParent || entity.arguments.option("isAbstract") != nil
            let declaresAny = entity.structure.memberBlock.members.contains { $0.decl.is(IfConfigDeclSyntax.self) }
            guard entity.persistent.isEmpty, !hasOthers, !declaresAny else { return }
            let mistake = Mistake(
                "noProperties", "'\(entity.typeName)' has no property to store.", "Add a stored property, such as '@Identity var id: UUID'."
            )
            findings.add(mistake, at: entity.structure.name)
        }
    }
#endif
