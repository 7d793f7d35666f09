"""Resources: the `{-# ... #-}` section of a printed module, with the data of its `dense_resource` attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseResource, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.attribute_text import key_text


def resource_section(module: Operation) -> str:
    """Return the section with the blobs of all resources in a module; "" if there are none."""
    blobs = {resource.key: resource for op in module.walk() for resource in _resources_of(op)}
    entries = [f"      {key_text(key)}: {_blob_text(resource)}" for key, resource in blobs.items()]
    if not entries:
        return ""
    listed = ",\n".join(entries)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{listed}\n    }}\n  }}\n#-}}\n"


def _resources_of(op: Operation) -> Iterator[DenseResource]:
    """Yield the resources with data in the attributes of an op."""
    for value in (*op.properties.values(), *op.attributes.values()):
        yield from _resources_in(value)


def _resources_in(value: object) -> Iterator[DenseResource]:
    match value:
        case DenseResource(array=array) if array is not None:
            yield value
        case tuple():
            for element in value:
                yield from _resources_in(element)
        case dict() | StructAttribute(fields=dict()):
            fields = value if isinstance(value, dict) else value.fields
            for element in fields.values():
                yield from _resources_in(element)


def _blob_text(resource: DenseResource) -> str:
    """Return a blob as MLIR writes it: the alignment in four bytes, then the data."""
    data = blob_alignment(resource).to_bytes(4, "little") + blob_elements(resource).tobytes()
    return f'"0x{data.hex().upper()}"'


def blob_elements(resource: DenseResource) -> Array:
    """Return the elements that a blob has: all of them, or one if all are the same one."""
    array: Array = resource.array
    return array[(slice(1),) * array.ndim] if array.size and not any(array.strides) else array


def blob_alignment(resource: DenseResource) -> int:
    """Return the alignment of a blob in bytes: the one that it was read with, or that of its elements."""
    array: Array = resource.array
    return resource.alignment or (array.itemsize // 2 if array.dtype.kind == "c" else array.itemsize)


# --- keys -----------------------------------------------------------------------------------------------------------


def separate_resources(module: Operation) -> None:
    """Rename resources that have the key of another resource with other data, as in modules that were merged."""
    known: dict[str, DenseResource] = {}
    for op in module.walk():
        renamed = {id(r): key for r in _resources_of(op) if (key := _unique_key(r, known)) != r.key}
        if renamed:
            op.properties = {name: _with_keys(value, renamed) for name, value in op.properties.items()}
            op.attributes = {name: _with_keys(value, renamed) for name, value in op.attributes.items()}


def _unique_key(resource: DenseResource, known: dict[str, DenseResource]) -> str:
    """Return the key of a resource, with a number if the key is that of other data."""
    key, number = resource.key, 0
    while key in known and not _same_data(known[key], resource):
        number += 1
        key = f"{resource.key}_{number}"
    known.setdefault(key, resource)
    return key


def _same_data(a: DenseResource, b: DenseResource) -> bool:
    if a.array is b.array:
        return True
    return a.array.nbytes == b.array.nbytes and bool(np.array_equal(_bits(a.array), _bits(b.array)))


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def _with_keys(value: object, keys: Mapping[int, str]) -> object:
    """Return an attribute whose resources have new keys, by their ids."""
    match value:
        case DenseResource() if id(value) in keys:
            return replace(value, key=keys[id(value)])
        case tuple():
            return tuple(_with_keys(element, keys) for element in value)
        case dict():
            return {name: _with_keys(element, keys) for name, element in value.items()}
        case StructAttribute(name, fields):
            return StructAttribute(name, {field: _with_keys(element, keys) for field, element in fields.items()})
    return value
