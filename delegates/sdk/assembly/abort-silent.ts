// The end of a guest without the `log` capability: a trap.

/** AssemblyScript's abort hook. */
export function abort(_message: string | null = null, _file: string | null = null, _line: u32 = 0, _column: u32 = 0): void {
  unreachable();
}
