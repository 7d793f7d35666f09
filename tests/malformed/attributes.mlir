// Types, attributes, aliases and locations that are none.

// expected-error@+1 {{expected a type, found 'tensr'}}
func.func private @f(tensr<f32>)

// -----

// expected-error@+1 {{expected ',' or '>', found ')'}}
func.func private @f(tensor<f32)

// -----

// expected-error@+1 {{integer types have at most 16777215 bits}}
func.func private @f(i16777216)

// -----

// expected-error@+1 {{a dimension size does not fit in 64 bits}}
func.func private @f(tensor<9223372036854775808xf32>)

// -----

// expected-error@+1 {{Bounds length is 1, expected to be equal to rank(2) of the tensor}}
func.func private @f(tensor<?x?xf32, #stablehlo.bounds<3>>)

// -----

// expected-error@+1 {{expected a scale, found 'x'}}
func.func private @f(tensor<2x!quant.uniform<i8:f32, x>>)

// -----

// expected-error@+1 {{alias '!t' is not defined}}
func.func private @f(!t)

// -----

#a = 1
// expected-error@+1 {{redefinition of attribute alias id 'a'}}
#a = 2

// -----

// expected-error@+1 {{attribute 'a' stands twice in a dictionary}}
func.func private @f() attributes {a = 1, a = 2}

// -----

// expected-error@+1 {{expected an attribute, found ')'}}
func.func private @f() attributes {a = )}

// -----

// expected-error@+1 {{expected a string, found '"'}}
func.func private @f() attributes {a = "b}

// -----

// expected-error@+1 {{unknown escape in a string}}
func.func private @f() attributes {a = "\q"}

// -----

// expected-error@+1 {{a floating-point literal for type i32}}
func.func private @f() attributes {a = 1.5 : i32}

// -----

// expected-error@+1 {{an integer literal for type f32}}
func.func private @f() attributes {a = 1 : f32}

// -----

// expected-error@+1 {{expected an integer, found 'x' in an array of i64}}
func.func private @f() attributes {a = array<i64: x>}

// -----

// expected-error@+1 {{the elements are not nested as the shape (2x2) asks for}}
func.func private @f() attributes {a = dense<[1, 2]> : tensor<2x2xi32>}

// -----

// expected-error@+1 {{a dialect's attribute with unbalanced brackets}}
func.func private @f() attributes {a = #foo.bar<(]>}

// -----

// expected-error@+1 {{duplicated `offset_dims` entry}}
func.func private @f() attributes {a = #stablehlo.gather<offset_dims = [1], offset_dims = [2]>}

// -----

// expected-error@+1 {{expected a location, found '5'}}
func.func private @f() loc(5)

// -----

// expected-error@+1 {{undefined location alias '#l'}}
func.func private @f() loc(#l)
