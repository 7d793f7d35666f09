"""`python -m stablehlo_ref` is `stablehlo-interp`."""

from stablehlo_ref.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
