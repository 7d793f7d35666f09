"""The struct attributes of StableHLO and CHLO: their fields and the defaults of those."""

from __future__ import annotations

from stablehlo_ref.ir.attributes import IntegerAttribute

ZERO = IntegerAttribute(0)

# Fields with their defaults; a field that equals its default is not printed.
STRUCTS: dict[str, dict[str, object]] = {
    "stablehlo.gather": {
        "offset_dims": (),
        "collapsed_slice_dims": (),
        "operand_batching_dims": (),
        "start_indices_batching_dims": (),
        "start_index_map": (),
        "index_vector_dim": ZERO,
    },
    "stablehlo.scatter": {
        "update_window_dims": (),
        "inserted_window_dims": (),
        "input_batching_dims": (),
        "scatter_indices_batching_dims": (),
        "scatter_dims_to_operand_dims": (),
        "index_vector_dim": ZERO,
    },
    "stablehlo.dot": {
        "lhs_batching_dimensions": (),
        "rhs_batching_dimensions": (),
        "lhs_contracting_dimensions": (),
        "rhs_contracting_dimensions": (),
    },
    "chlo.ragged_dot": {
        "lhs_batching_dimensions": (),
        "rhs_batching_dimensions": (),
        "lhs_contracting_dimensions": (),
        "rhs_contracting_dimensions": (),
        "lhs_ragged_dimensions": (),
        "rhs_group_dimensions": (),
    },
    "stablehlo.conv": {
        "input_batch_dimension": ZERO,
        "input_feature_dimension": ZERO,
        "input_spatial_dimensions": (),
        "kernel_input_feature_dimension": ZERO,
        "kernel_output_feature_dimension": ZERO,
        "kernel_spatial_dimensions": (),
        "output_batch_dimension": ZERO,
        "output_feature_dimension": ZERO,
        "output_spatial_dimensions": (),
    },
}

# The letters in the three lists of a convolution with their fields, and the field of the spatial dimensions (numbers).
CONVOLUTION_LISTS = (
    ({"b": "input_batch_dimension", "f": "input_feature_dimension"}, "input_spatial_dimensions"),
    ({"i": "kernel_input_feature_dimension", "o": "kernel_output_feature_dimension"}, "kernel_spatial_dimensions"),
    ({"b": "output_batch_dimension", "f": "output_feature_dimension"}, "output_spatial_dimensions"),
)
