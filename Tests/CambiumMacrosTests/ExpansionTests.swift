@testable import CambiumMacros
import Testing
struct ExpansionTests { @Test func a() {} }
