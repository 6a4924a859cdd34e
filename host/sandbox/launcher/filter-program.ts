// Makes a seccomp program (classic BPF) of a list of allowed system calls.

/** A condition on a system call's argument: the low 32 bits, masked, must have one of these values. */
export interface ArgumentRule {
  /** The number of the argument, from 0. */
  readonly argument: number;
  readonly mask: number;
  readonly values: readonly number[];
}

/** An allowed system call. */
export interface AllowedCall {
  readonly number: number;
  /** Undefined: any arguments are allowed. */
  readonly rule?: ArgumentRule | undefined;
}

/** <linux/filter.h>, <linux/seccomp.h>. */
const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;
const KILL_PROCESS = 0x8000_0000;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in `struct seccomp_data`. */
const numberOffset = 0;
const archOffset = 4;
const argumentsOffset = 16;

/** The first number of the x32 calls, which repeat the calls of x86-64 under other numbers. */
const firstX32 = 0x4000_0000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The answer to an unlisted call: ENOSYS lets libraries do without the call; `kill` shows a test that a call is missing. */
export type UnlistedAnswer = "ENOSYS" | "kill";

/**
 * The program as bytes of `struct sock_filter`, in this machine's byte order. Another architecture's calls end the process; an argument that
 * is not allowed is answered with EPERM.
 */
export function filterProgram(arch: number, allowed: readonly AllowedCall[], unlisted: UnlistedAnswer = "ENOSYS"): Buffer {
  const program: readonly Instruction[] = [
    [LOAD_WORD, 0, 0, archOffset],
    [JUMP_EQUAL, 1, 0, arch],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD_WORD, 0, 0, numberOffset],
    [JUMP_AT_LEAST, 0, 1, firstX32],
    [RETURN, 0, 0, KILL_PROCESS],
    ...allowed.flatMap(instructionsOf),
    [RETURN, 0, 0, unlisted === "kill" ? KILL_PROCESS : ERRNO | ENOSYS],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}

function instructionsOf({ number, rule }: AllowedCall): readonly Instruction[] {
  if (rule === undefined)
    return [
      [JUMP_EQUAL, 0, 1, number],
      [RETURN, 0, 0, ALLOW],
    ];
  const { argument, mask, values } = rule;
  const checks: readonly Instruction[] = [
    [LOAD_WORD, 0, 0, argumentsOffset + 8 * argument],
    [AND, 0, 0, mask],
    ...values.flatMap((value): readonly Instruction[] => [
      [JUMP_EQUAL, 0, 1, value],
      [RETURN, 0, 0, ALLOW],
    ]),
    [RETURN, 0, 0, ERRNO | EPERM],
  ];
  return [[JUMP_EQUAL, 0, checks.length, number], ...checks];
}
