import Cambium
import Foundation

enum Size: String, CaseIterable, AttributeValue { case small, large }

@Entity(indexes: [["name"]])
struct Product: Equatable {
    @Identity var sku: String
    @Attribute(.minLength(1)) var name: String
    @Attribute(.min(0)) var price: Decimal = 0
    var size: Size = .small
    var shelf: Ref<Shelf>?
}

@Entity
struct Shelf: Equatable {
    @Identity var code: String
    @Relationship(inverse: \Product.shelf, onDelete: .cascade) var products: [Product] = []
}

@Entity
struct Sale: Equatable {
    @Identity var number: Int
    var price: Decimal
    var product: Ref<Product>
}
