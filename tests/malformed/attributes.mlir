// Malformed types, attributes, aliases and locations.

// expected-error@+1 {{expected a type, got 'tensr'}}
func.func private @f(tensr<f32>)

// -----

// expected-error@+1 {{expected ',' or '>', got ')'}}
func.func private @f(tensor<f32)

// -----

// expected-error@+1 {{integer bitwidth is limited to 16777215 bits}}
func.func private @f(i16777216)

// -----

// expected-error@+1 {{dimension size does not fit in 64 bits}}
func.func private @f(tensor<9223372036854775808xf32>)

// -----

// expected-error@+1 {{Bounds length is 1, expected to be equal to rank(2) of the tensor}}
func.func private @f(tensor<?x?xf32, #stablehlo.bounds<3>>)

// -----

// expected-error@+1 {{expected a scale, got 'x'}}
func.func private @f(tensor<2x!quant.uniform<i8:f32, x>>)

// -----

// expected-error@+1 {{undefined alias '!t'}}
func.func private @f(!t)

// -----

#a = 1
// expected-error@+1 {{redefinition of attribute alias id 'a'}}
#a = 2

// -----

// expected-error@+1 {{duplicate attribute 'a'}}
func.func private @f() attributes {a = 1, a = 2}

// -----

// expected-error@+1 {{expected an attribute, got ')'}}
func.func private @f() attributes {a = )}

// -----

// expected-error@+1 {{unterminated string; expected '"' on the same line}}
func.func private @f() attributes {a = "b}

// -----

// expected-error@+1 {{unknown escape in string literal}}
func.func private @f() attributes {a = "\q"}

// -----

// expected-error@+1 {{expected a literal of type i32, got a floating-point literal}}
func.func private @f() attributes {a = 1.5 : i32}

// -----

// expected-error@+1 {{expected a literal of type f32, got an integer literal}}
func.func private @f() attributes {a = 1 : f32}

// -----

// expected-error@+1 {{expected an integer, got 'x' in array of i64}}
func.func private @f() attributes {a = array<i64: x>}

// -----

// expected-error@+1 {{expected elements of shape (2, 2), got (2) in literal of type tensor<2x2xi32>}}
func.func private @f() attributes {a = dense<[1, 2]> : tensor<2x2xi32>}

// -----

// expected-error@+1 {{unbalanced brackets in dialect attribute}}
func.func private @f() attributes {a = #foo.bar<(]>}

// -----

// expected-error@+1 {{duplicated `offset_dims` entry}}
func.func private @f() attributes {a = #stablehlo.gather<offset_dims = [1], offset_dims = [2]>}

// -----

// expected-error@+1 {{expected a location, got '5'}}
func.func private @f() loc(5)

// -----

// expected-error@+1 {{undefined location alias '#l'}}
func.func private @f() loc(#l)
