// function: @f
// operand: %x: memref<8x8xf32>
// operand: %y: index
// operand: %z: index
// result: %t1: memref<?x?xf32, strided<[?, 1], offset: ?>>
// dialect: memref
#strided = strided<[?, 1], offset: ?>
!view = memref<?x?xf32, #strided>
func.func @f(%m: memref<8x8xf32>, %i: index, %n: index) -> !view {
  %view = memref.subview %m[%i, %i] [%n, %n] [1, 1] : memref<8x8xf32> to memref<?x?xf32, strided<[8, 1], offset: ?>>
  %cast = memref.cast %view : memref<?x?xf32, strided<[8, 1], offset: ?>> to !view
  memref.dealloc %m : memref<8x8xf32>
  return %cast : !view
}

// ----- inlined
%t0 = memref.subview %x[%y, %y] [%z, %z] [1, 1] : memref<8x8xf32> to memref<?x?xf32, strided<[8, 1], offset: ?>>
%t1 = memref.cast %t0 : memref<?x?xf32, strided<[8, 1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
memref.dealloc %x : memref<8x8xf32>
