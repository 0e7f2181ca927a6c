#if Macros
    import SwiftSyntax

    /// The kind of a type, as far as the syntax shows it. A macro sees only names, and does not know to which types the names refer.
    indirect enum TypeShape {
        /// A type that an attribute can have.
        case attribute(String)
        /// A known type of the standard library or Foundation that an attribute cannot have.
        case unsupported(String)
        /// A name that the macro does not know.
        case named(String)
        case optional(TypeShape)
        case implicitlyUnwrapped(TypeShape)
        case array(TypeShape)
        case set(TypeShape)
        case dictionary
        case ref, toMany
        case tuple, function, existential

        init(_ type: TypeSyntax) {
            switch type.as(TypeSyntaxEnum.self) {
            case .optionalType(let type): self = .optional(TypeShape(type.wrappedType))
            case .implicitlyUnwrappedOptionalType(let type): self = .implicitlyUnwrapped(TypeShape(type.wrappedType))
            case .arrayType(let type): self = Self.array(of: type.element)
            case .dictionaryType: self = .dictionary
            case .tupleType(let type): self = Self.parenthesized(type)
            case .functionType: self = .function
            case .someOrAnyType, .compositionType: self = .existential
            case .attributedType(let type): self = TypeShape(type.baseType)
            case .identifierType(let type): self = Self.named(type.name.bareText, type.genericTypes)
            case .memberType(let type): self = Self.member(type)
            default: self = .named(type.trimmedDescription)
            }
        }

        /// The names of the types that an attribute can have.
        static let attributeTypes: Set<String> = [
            "Bool", "Int", "Int16", "Int32", "Int64", "Float", "Double", "Decimal", "DecimalNumber", "String", "Data", "Date", "UUID",
            "URL",
            "JSONValue",
        ]

        /// Known types that an attribute cannot have. The value of each entry is a type that can hold all values of the known type, or
        /// `nil` if there is no such type.
        static let replacements: [String: String?] = [
            "Int8": "Int16", "UInt8": "Int16", "UInt16": "Int32", "UInt32": "Int64", "UInt": nil, "UInt64": nil, "Int128": nil,
            "UInt128": nil,
            "Float16": "Float", "Float80": nil, "CGFloat": "Double", "Character": "String", "Substring": "String", "Duration": nil,
            "NSString": "String", "NSDate": "Date", "NSData": "Data", "NSNumber": nil, "NSDecimalNumber": "Decimal",
        ]

        private static func array(of element: TypeSyntax) -> TypeShape {
            element.trimmedDescription == "UInt8" ? .attribute("[UInt8]") : .array(TypeShape(element))
        }

        private static func parenthesized(_ type: TupleTypeSyntax) -> TypeShape {
            guard type.elements.count == 1, let element = type.elements.first else { return .tuple }
            return TypeShape(element.type)
        }

        private static func named(_ name: String, _ arguments: [TypeSyntax]) -> TypeShape {
            switch (name, arguments.first) {
            case ("Optional", let wrapped?): .optional(TypeShape(wrapped))
            case ("Array", let element?): array(of: element)
            case ("Set", let element?): .set(TypeShape(element))
            case ("Dictionary", _): .dictionary
            case ("Ref", _): .ref
            case ("ToMany", _): .toMany
            case ("Any", _), ("AnyObject", _): .existential
            case _ where attributeTypes.contains(name): .attribute(name)
            case _ where replacements[name] != nil: .unsupported(name)
            default: .named(name)
            }
        }

        /// Returns the shape of a qualified name. Treats `Foundation.Date` as `Date`. The macro does not know the types that are nested in
        /// other types.
        private static func member(_ type: MemberTypeSyntax) -> TypeShape {
            let modules = ["Swift", "Foundation", "FoundationEssentials", "Cambium"]
            guard modules.contains(type.baseType.trimmedDescription) else { return .named(type.trimmedDescription) }
            return named(type.name.bareText, type.genericTypes)
        }
    }

    extension TypeShape {
        var isOptional: Bool { if case .optional = self { true } else { false } }

        /// The shape of the type inside an optional, or this shape if the type is not an optional.
        var wrapped: TypeShape {
            switch self {
            case .optional(let shape), .implicitlyUnwrapped(let shape): shape.wrapped
            default: self
            }
        }

        /// The name of the attribute type, or `nil` if the type is not an attribute type.
        var attributeType: String? { if case .attribute(let name) = wrapped { name } else { nil } }
    }

    extension IdentifierTypeSyntax {
        var genericTypes: [TypeSyntax] { genericArgumentClause.types }
    }

    extension MemberTypeSyntax {
        var genericTypes: [TypeSyntax] { genericArgumentClause.types }
    }

    extension GenericArgumentClauseSyntax? {
        fileprivate var types: [TypeSyntax] {
            self?.arguments.compactMap { if case .type(let type) = $0.argument { type } else { nil } } ?? []
        }
    }
#endif
