"""`python -m stablehlo_ref` is `stablehlo-interp`."""

import sys

if __name__ == "__main__":
    try:
        from stablehlo_ref.cli.main import main
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    raise SystemExit(main())
