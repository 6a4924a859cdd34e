// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.

// Names in the way of the generator's own code and of builtins.

import * as _calls from "./calls";
import { Some } from "plexus/some";
import { Mixed as shapes_Mixed } from "./shapes";
export { Mixed as VariantOfShapes } from "./shapes";
export { Id } from "./shapes";

export class Array_ {
  map: u64;
  some: Some<u64> | null = null;

  constructor(map: u64) {
    this.map = map;
  }
}

export function load(value: Array_): Array_ {
  return _calls.store_load(value);
}

export function store(v: shapes_Mixed): shapes_Mixed {
  return _calls.store_store(v);
}

export function memory(p: string): string {
  return _calls.store_memory(p);
}

export function abort_(mark: u32): u32 {
  return _calls.store_abort_(mark);
}

export function delete_(changetype: bool): bool {
  return _calls.store_delete_(changetype);
}
