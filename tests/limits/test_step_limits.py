"""The limit of steps stops fast runs at the same op as plain ones, and after the same effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr

HELPERS = """
func.func private @next(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %x, %one : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @sum(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %y : tensor<f32>
  %1 = func.call @next(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
"""
NEXT = "func.call @next({}) : (tensor<f32>) -> tensor<f32>"
RECURSION = f"""
{HELPERS}
func.func @main(%x: tensor<f32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %p = stablehlo.compare GT, %x, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({{
    %1 = stablehlo.subtract %x, %one : tensor<f32>
    %2 = func.call @main(%1) : (tensor<f32>) -> tensor<f32>
    %3 = {NEXT.format("%2")}
    %4 = {NEXT.format("%3")}
    stablehlo.return %4 : tensor<f32>
  }}, {{ stablehlo.return %zero : tensor<f32> }}) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}}
"""


def looped(body: str) -> str:
    """Return a program that runs the ops of `body`, on %x and with a result %r, as often as its argument says."""
    return f"""
    {HELPERS}
    func.func private @computation(%x: tensor<f32>) -> tensor<f32> {{
      %0 = {NEXT.format("%x")}
      return %0 : tensor<f32>
    }}
    func.func private @look(%x: tensor<f32>) -> tensor<f32> {{
      %0 = stablehlo.custom_call @look(%x) : (tensor<f32>) -> tensor<f32>
      %1 = {NEXT.format("%0")}
      return %1 : tensor<f32>
    }}
    func.func @main(%n: tensor<f32>) -> tensor<f32> {{
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %0:2 = stablehlo.while(%i = %zero, %x = %one) : tensor<f32>, tensor<f32> cond {{
        %p = stablehlo.compare LT, %i, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %j = stablehlo.add %i, %one : tensor<f32>
        {body}
        stablehlo.return %j, %r : tensor<f32>, tensor<f32>
      }}
      return %0#1 : tensor<f32>
    }}
    """


def reduction(captured: str) -> str:
    return f"""
        %v = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %s = "stablehlo.reduce"(%v, %zero) ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = func.call @sum(%a, {captured}) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            stablehlo.return %c : tensor<f32>
        }}) {{dimensions = array<i64: 0>}} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
        %t = {NEXT.format("%s")}
        %r = {NEXT.format("%t")}
    """


PROGRAMS = {
    "recursion": RECURSION,
    "a region that calls": looped(reduction("%b")),
    "a region that captures": looped(reduction("%x")),
    "an effect": looped(f"""
        %s = {NEXT.format("%x")}
        %t = func.call @look(%s) : (tensor<f32>) -> tensor<f32>
        %r = func.call @look(%t) : (tensor<f32>) -> tensor<f32>
    """),
    "an effect between calls": looped(f"""
        %s = stablehlo.custom_call @look(%x) : (tensor<f32>) -> tensor<f32>
        %t = {NEXT.format("%s")}
        %r = {NEXT.format("%t")}
    """),
    "a computation that a host function calls": looped(f"""
        %s = {NEXT.format("%x")}
        %t = stablehlo.custom_call @call(%s) {{called_computations = [@computation]}} : (tensor<f32>) -> tensor<f32>
        %r = {NEXT.format("%t")}
    """),
}


def outcome(program: sr.Program, **options: Any) -> object:
    """Return the results or the error, and what host functions saw."""
    seen: list[object] = []

    def look(call: object, x: np.float32) -> list[object]:
        seen.append(float(x))
        return [x]

    def call(call: sr.CustomCall, x: np.float32) -> list[object]:
        return list(call.computations[0](x))

    handlers = {name: handler for name, handler in (("look", look), ("call", call)) if f"@{name}(" in str(program)}
    try:
        (result,) = program.run(np.float32(6), custom_calls=handlers, **options)
    except sr.StablehloError as error:
        return str(error), seen
    return float(result), seen


@pytest.mark.parametrize("name", PROGRAMS)
def test_fast_runs_stop_where_plain_ones_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = pytest.importorskip("stablehlo_ref.accelerate.policy")
    monkeypatch.setattr(policy, "HOT", 2)
    program = sr.parse(PROGRAMS[name])
    for _ in range(3):
        assert outcome(program) == outcome(program, fast=False)
    for steps in range(1, 70):
        limits = sr.Limits(max_steps=steps)
        assert outcome(program, limits=limits) == outcome(program, fast=False, limits=limits)
    for depth in range(1, 8):
        limits = sr.Limits(max_depth=depth)
        assert outcome(program, limits=limits) == outcome(program, fast=False, limits=limits)
