#if Macros
    import SwiftSyntax

    /// Finds the mistakes in a declaration with `@Entity`.
    struct EntityCheck {
        private(set) var findings = Findings()

        init(_ node: AttributeSyntax, _ declaration: some DeclGroupSyntax, _ context: [Syntax]) {
            guard let entity = EntityDeclaration(node, declaration, context) else {
                KindCheck(declaration).findMistakes(&findings)
                return
            }
            StructCheck(entity).findMistakes(&findings)
            for member in entity.structure.memberBlock.members {
                guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
                VariableCheck(variable).findMistakes(&findings)
            }
            for property in entity.properties { Self.check(property, of: entity, &findings) }
            NameCheck(entity).findMistakes(&findings)
            SetCheck(entity).findMistakes(&findings)
        }

        /// Checks one property. If the type has a mistake, the options are not checked. Otherwise, a mistake could be reported twice.
        private static func check(_ property: StoredProperty, of entity: EntityDeclaration, _ findings: inout Findings) {
            let countBefore = findings.diagnostics.count
            MarkerCheck(property).findMistakes(&findings)
            ValueCheck(property).findMistakes(&findings)
            if property.isTransient || findings.diagnostics.count > countBefore { return }
            TypeCheck(property, of: entity).findMistakes(&findings)
            if findings.diagnostics.count > countBefore { return }
            RoleCheck(property).findMistakes(&findings)
            if findings.diagnostics.count > countBefore { return }
            for marker in property.markers { OptionCheck(property, marker).findMistakes(&findings) }
            if property.isDerived, !entity.declaresInitializer { ValueCheck(property).checkDerived(in: entity.typeName, &findings) }
            LimitCheck(property).findMistakes(&findings)
            CloneCheck(property).findMistakes(&findings)
        }
    }
#endif
