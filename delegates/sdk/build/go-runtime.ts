// The functions of WASI that Go's runtime imports, as a core module without WASI. wit-component links it into the component as the adapter of
// `wasi_snapshot_preview1`. A node thus sees a component whose only imports are capabilities.

import type { CoreFunctionImport } from "./go-imports.ts";

/** The module name under which Go's runtime imports these functions. */
export const wasiModule = "wasi_snapshot_preview1";

/** The text of the module for exactly these imports. `logFrom`: the full name of the interface `log`; undefined: what Go prints is dropped. */
export function goRuntimeText(imports: readonly CoreFunctionImport[], logFrom: string | undefined): string {
  const write = logFrom === undefined ? "" : `(import "${logFrom}" "write" (func $log (param i32 i32 i32)))`;
  const functions = imports.map((each) => {
    const head = `(func (export "${each.uniqueName}")`;
    return `  ${head} ${definitions[each.name] ?? absent(each)})`;
  });
  return `(module
  ${write}
  (import "env" "memory" (memory 0))
${globals}
${flush(logFrom !== undefined)}
${take}
${functions.join("\n")}
)
`;
}

/** A function of files or sockets, which a delegate does not have: "bad file descriptor" (8) for `fd_*`, "not supported" (52) for all others. */
function absent({ name, params, results }: CoreFunctionImport): string {
  const types = `${params.map((type) => `(param ${type}) `).join("")}${results.map((type) => `(result ${type}) `).join("")}`;
  if (results.join() !== "i32") return `${types}(unreachable)`;
  return `${types}(i32.const ${name.startsWith("fd_") ? 8 : 52})`;
}

/** `$buffer` and `$size`: the bytes in which the Go package keeps an unfinished line. `$need`, `$low` and `$high`: the next byte of a UTF-8 character. */
const globals = `  (global $clock (mut i64) (i64.const 0))
  (global $seeded (mut i32) (i32.const 0))
  (global $buffer (mut i32) (i32.const 0))
  (global $size (mut i32) (i32.const 0))
  (global $used (mut i32) (i32.const 0))
  (global $level (mut i32) (i32.const 3))
  (global $need (mut i32) (i32.const 0))
  (global $low (mut i32) (i32.const 0x80))
  (global $high (mut i32) (i32.const 0xbf))
  (global $invalid (mut i32) (i32.const 0))`;

/** Writes the unfinished line. A line that is not UTF-8 has a question mark for each byte that is not ASCII, because the host refuses it as it is. */
function flush(logs: boolean): string {
  return `  (func $flush (local $at i32)
    (if (i32.or (global.get $invalid) (global.get $need)) (then
      (local.set $at (i32.add (global.get $buffer) (global.get $used)))
      (loop $next (if (i32.gt_u (local.get $at) (global.get $buffer)) (then
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (if (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 0x80)) (then
          (i32.store8 (local.get $at) (i32.const 0x3f))))
        (br $next))))))
    ${logs ? "(if (global.get $used) (then (call $log (global.get $level) (global.get $buffer) (global.get $used))))" : ""}
    (global.set $used (i32.const 0))
    (global.set $need (i32.const 0))
    (global.set $invalid (i32.const 0)))`;
}

/** Takes one byte of a line: the states are those of the UTF-8 decoder in the WHATWG's Encoding Standard. A full buffer ends the line before a character. */
const take = `  (func $take (param $byte i32)
    (if (i32.eq (local.get $byte) (i32.const 10)) (then (call $flush) (return)))
    (if (i32.and (i32.ge_u (i32.add (global.get $used) (i32.const 4)) (global.get $size)) (i32.eqz (global.get $need))) (then (call $flush)))
    (if (i32.eqz (global.get $size)) (then (return)))
    (i32.store8 (i32.add (global.get $buffer) (global.get $used)) (local.get $byte))
    (global.set $used (i32.add (global.get $used) (i32.const 1)))
    (if (global.get $need)
      (then
        (if (i32.or (i32.lt_u (local.get $byte) (global.get $low)) (i32.gt_u (local.get $byte) (global.get $high)))
          (then (global.set $invalid (i32.const 1)) (global.set $need (i32.const 0)))
          (else (global.set $need (i32.sub (global.get $need) (i32.const 1)))))
        (global.set $low (i32.const 0x80))
        (global.set $high (i32.const 0xbf))
        (return)))
    (if (i32.lt_u (local.get $byte) (i32.const 0x80)) (then (return)))
    (if (i32.or (i32.lt_u (local.get $byte) (i32.const 0xc2)) (i32.gt_u (local.get $byte) (i32.const 0xf4))) (then
      (global.set $invalid (i32.const 1)) (return)))
    (global.set $need (i32.add (i32.const 1)
      (i32.add (i32.ge_u (local.get $byte) (i32.const 0xe0)) (i32.ge_u (local.get $byte) (i32.const 0xf0)))))
    (if (i32.eq (local.get $byte) (i32.const 0xe0)) (then (global.set $low (i32.const 0xa0))))
    (if (i32.eq (local.get $byte) (i32.const 0xed)) (then (global.set $high (i32.const 0x9f))))
    (if (i32.eq (local.get $byte) (i32.const 0xf0)) (then (global.set $low (i32.const 0x90))))
    (if (i32.eq (local.get $byte) (i32.const 0xf4)) (then (global.set $high (i32.const 0x8f)))))`;

const noList = `(param $count i32) (param $bytes i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $bytes) (i32.const 0))
    (i32.const 0)`;

const definitions: Readonly<Record<string, string>> = {
  sched_yield: "(result i32) (i32.const 0)",
  proc_exit: "(param i32) (call $flush) (unreachable)",
  args_get: "(param i32 i32) (result i32) (i32.const 0)",
  args_sizes_get: noList,
  environ_get: "(param i32 i32) (result i32) (i32.const 0)",
  environ_sizes_get: noList,
  // The runtime refuses a clock that stands still, or at zero.
  clock_time_get: `(param i32) (param i64) (param $at i32) (result i32)
    (global.set $clock (i64.add (global.get $clock) (i64.const 1000)))
    (i64.store (local.get $at) (global.get $clock))
    (i32.const 0)`,
  // The seeds of the runtime's maps. Later callers, such as crypto/rand, must not take a constant for a random number.
  random_get: `(param $at i32) (param $bytes i32) (result i32)
    (if (global.get $seeded) (then (return (i32.const 52))))
    (global.set $seeded (i32.const 1))
    (memory.fill (local.get $at) (i32.const 1) (local.get $bytes))
    (i32.const 0)`,
  // A sleep ends at once, and has moved the clock. Other subscriptions have no event.
  poll_oneoff: `(param $in i32) (param $out i32) (param $count i32) (param $events i32) (result i32)
    (memory.fill (local.get $out) (i32.const 0) (i32.const 32))
    (i32.store (local.get $events) (i32.const 0))
    (if (i32.eqz (i32.load8_u offset=8 (local.get $in))) (then
      (global.set $clock (i64.add (global.get $clock) (i64.load offset=24 (local.get $in))))
      (i64.store (local.get $out) (i64.load (local.get $in)))
      (i32.store (local.get $events) (i32.const 1))))
    (i32.const 0)`,
  // stdout has the level info (1), stderr error (3).
  fd_write: `(param $fd i32) (param $vectors i32) (param $count i32) (param $written i32) (result i32)
    (local $at i32) (local $end i32) (local $total i32)
    (if (i32.gt_u (i32.sub (local.get $fd) (i32.const 1)) (i32.const 1)) (then (return (i32.const 8))))
    (local.set $at (i32.sub (i32.shl (local.get $fd) (i32.const 1)) (i32.const 1)))
    (if (i32.ne (local.get $at) (global.get $level)) (then (call $flush) (global.set $level (local.get $at))))
    (loop $vector (if (local.get $count) (then
      (local.set $at (i32.load (local.get $vectors)))
      (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $vectors))))
      (local.set $total (i32.add (local.get $total) (i32.load offset=4 (local.get $vectors))))
      (loop $byte (if (i32.ne (local.get $at) (local.get $end)) (then
        (call $take (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $byte))))
      (local.set $vectors (i32.add (local.get $vectors) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br $vector))))
    (i32.store (local.get $written) (local.get $total))
    (i32.const 0)`,
  // A function of the Go package plexus, not of WASI.
  plexus_buffer: `(param $at i32) (param $bytes i32)
    (global.set $buffer (local.get $at))
    (global.set $size (local.get $bytes))`,
  // Ends an unfinished line at the end of a call.
  plexus_flush: "(call $flush)",
};
