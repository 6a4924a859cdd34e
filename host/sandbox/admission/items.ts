// The values of a component's indices after the symbolic evaluation. No module is instantiated.

import type { CoreKind, CoreModule } from "../binary/core-module.ts";
import type { CoreFunctionType } from "../binary/core-types.ts";
import type { FunctionShape, Shape } from "./shapes.ts";

/** A core item: the export of a core instance, or the function of a canonical definition. */
export type CoreItem =
  | {
      readonly from: "instance";
      /** Number of the core instance in the order of instantiation. */
      readonly instance: number;
      readonly name: string;
      readonly kind: CoreKind;
      readonly type: CoreFunctionType | undefined;
    }
  | {
      readonly from: "lower";
      readonly func: FunctionItem;
      readonly memory: CoreItem | undefined;
      readonly realloc: CoreItem | undefined;
    }
  /** A function of WASI that another part of the component imports. `memory` is its canonical option. */
  | { readonly from: "inert"; readonly name: string; readonly memory: CoreItem | undefined };

/** A core instance: an instantiated module, or a bundle of core items. */
export type CoreInstance =
  | { readonly kind: "instantiated"; readonly number: number; readonly module: CoreModule }
  | { readonly kind: "bundle"; readonly exports: ReadonlyMap<string, CoreItem> };

/** A component-level function. */
export type FunctionItem = { readonly type: FunctionShape } & (
  | { readonly from: "host"; readonly interface: string; readonly name: string }
  | { readonly from: "inert"; readonly name: string }
  | {
      readonly from: "lift";
      readonly core: CoreItem;
      readonly memory: CoreItem | undefined;
      readonly realloc: CoreItem | undefined;
      readonly postReturn: CoreItem | undefined;
      readonly at: number;
    }
);

/** A component-level type. */
export type TypeItem =
  | { readonly kind: "value"; readonly shape: Shape }
  | { readonly kind: "func"; readonly type: FunctionShape }
  | { readonly kind: "instance"; readonly exports: ReadonlyMap<string, TypeExport> }
  | { readonly kind: "resource"; readonly shape: Shape };

/** The type of one export of an instance type. */
export type TypeExport =
  | { readonly sort: "func"; readonly type: FunctionShape }
  | { readonly sort: "type"; readonly type: TypeItem };

/** A component-level item that can be imported or exported. */
export type ExternItem =
  | { readonly sort: "func"; readonly func: FunctionItem }
  | { readonly sort: "type"; readonly type: TypeItem }
  | { readonly sort: "instance"; readonly instance: InstanceItem };

/** A component instance, whose exports are evaluated on demand. `host` is the name of a host interface; undefined for any other instance. */
export interface InstanceItem {
  readonly host: string | undefined;
  export(name: string): ExternItem | undefined;
}
