// Fixtures that no toolchain makes: components whose sections are changed, and components of a WIT that differs from the ABI.

import { abiWit, componentOf, coreModuleOf, declared, readWat } from "./wat.ts";
import { binaryOf, leb, replaceCoreModule, sectionsOf, withSection, type Section } from "./sections.ts";

export interface Crafted {
  readonly name: string;
  readonly about: string;
  /** A part of the refusal's message. */
  readonly message: string;
  readonly kind?: "COMPONENT_REFUSED" | "LIMIT_MEMORY" | "CAPABILITY_NOT_GRANTED";
  /** `call` if V8 refuses the component at compilation, which follows admission. Default: refused at admission. */
  readonly at?: "call";
  readonly build: () => Promise<Uint8Array>;
}

async function base(name: string): Promise<Uint8Array> {
  return componentOf(await coreModuleOf(readWat(name).source));
}

async function changed(name: string, change: (sections: readonly Section[]) => readonly Section[]): Promise<Uint8Array> {
  const component = declared(await base(name), name, ["log", "leases"]);
  return binaryOf(component, change(sectionsOf(component)));
}

/** Replaces every occurrence of a text by a text of the same length. */
async function renamed(name: string, from: string, to: string): Promise<Uint8Array> {
  const text = Buffer.from(declared(await base(name), name, ["log", "leases"])).toString("latin1");
  return Buffer.from(text.replaceAll(from, to), "latin1");
}

async function withCoreSection(id: number, content: readonly number[]): Promise<Uint8Array> {
  const core = await coreModuleOf(readWat("good").source);
  const sections = sectionsOf(core).filter((section) => section.id !== id);
  const place = sections.findIndex((section) => rank(section.id) > rank(id));
  const whole = sections.toSpliced(place < 0 ? sections.length : place, 0, { id, content: Uint8Array.from(content) });
  return declared(replaceCoreModule(await base("good"), binaryOf(core, whole)), "crafted", []);
}

function rank(id: number): number {
  return id === 12 ? 9.5 : id === 13 ? 5.5 : id;
}

async function withChangedWit(from: string, to: string): Promise<Uint8Array> {
  if (!abiWit.includes(from)) throw new Error(`the WIT lacks ${JSON.stringify(from)}`);
  return declared(await componentOf(await coreModuleOf(readWat("good-leases").source), abiWit.replaceAll(from, to)), "lying", [
    "leases",
  ]);
}

const declaration = (fields: object) =>
  Buffer.from(
    JSON.stringify({
      name: "crafted",
      abi: "1.0.0",
      version: "1.0.0",
      about: "x",
      cniVersions: ["1.0.0"],
      capabilities: {},
      ...fields,
    }),
  );
const declares = async (fields: object) => withSection(await base("good"), "plexus:delegate", declaration(fields));
const largest = leb(0xffff_ffff);

async function importing(wit: string, world: string, imported: string): Promise<Uint8Array> {
  const source = `${imported}\n(func (export "x"))`;
  const core = await coreModuleOf(source);
  return declared(await componentOf(core, `package a:b;\n${wit}`, world), "importing", []);
}

export const crafted: readonly Crafted[] = [
  { name: "empty", about: "Has no bytes.", message: "not a WebAssembly binary", build: async () => new Uint8Array(0) },
  {
    name: "text",
    about: "Is a shell script.",
    message: "not a WebAssembly binary",
    build: async () => Buffer.from("#!/bin/sh\nexec true\n"),
  },
  {
    name: "core-module",
    about: "Is a core module, not a component.",
    message: "core module",
    build: async () => coreModuleOf(""),
  },
  {
    name: "component-version",
    about: "Has another binary version.",
    message: "version",
    build: async () => Buffer.from(await base("good")).fill(0x0e, 4, 5),
  },
  {
    name: "nothing-exported",
    about: "Is an empty component.",
    message: "export",
    build: async () => declared(binaryOf(await base("good"), []), "x", []),
  },
  {
    name: "too-large",
    about: "Has more than 4 MiB.",
    message: "wasm.limits.componentMiB",
    build: async () => declared(withSection(await base("good"), "pad", new Uint8Array(5 << 20)), "x", []),
  },
  {
    name: "wasi",
    about: "Imports WASI's environment.",
    message: "delegates have no WASI",
    build: async () =>
      importing(
        "world w { import wasi:cli/environment@0.2.0; export x: func(); }\npackage wasi:cli@0.2.0 { interface environment { initial-cwd: func() -> bool; } }",
        "w",
        '(import "wasi:cli/environment@0.2.0" "initial-cwd" (func (result i32)))',
      ),
  },
  {
    name: "import-constructor",
    about: "Imports a function called constructor.",
    message: "interfaces only",
    build: async () =>
      importing("world w { import %constructor: func(); export x: func(); }", "w", '(import "$root" "constructor" (func))'),
  },
  {
    name: "import-value-of",
    about: "Imports an interface with a function called value-of.",
    message: "not one that a delegate may have",
    build: async () =>
      importing(
        "interface to-string { value-of: func(); }\nworld w { import to-string; export x: func(); }",
        "w",
        '(import "a:b/to-string" "value-of" (func))',
      ),
  },
  {
    name: "import-proto",
    about: "Imports an interface called __proto__.",
    message: "not one that a toolchain would write",
    build: async () => renamed("good-logger", "cni:delegate/log@1.0.0", "__proto____proto____pro"),
  },
  {
    name: "import-typo",
    about: "Imports an interface that the ABI lacks.",
    message: '"cni:delegate/log@1.0.0" was probably meant',
    build: async () => renamed("good-logger", "cni:delegate/log@", "cni:delegate/lag@"),
  },
  {
    name: "import-exported",
    about: "Imports the interface that delegates export.",
    message: "does not exist in ABI",
    build: async () => renamed("good-leases", "cni:delegate/leases@", "cni:delegate/plugin@"),
  },
  {
    name: "import-function-typo",
    about: "Imports a function that the interface lacks.",
    message: "is not a function of the ABI",
    build: async () => renamed("good-leases", "probe", "prove"),
  },
  {
    name: "abi-version",
    about: "Is compiled for ABI version 9.9.9.",
    message: "ABI version 9.9.9",
    build: async () => renamed("good-leases", "@1.0.0", "@9.9.9"),
  },
  {
    name: "abi-two-versions",
    about: "Imports one ABI version and exports another.",
    message: "ABI version 1.0.1",
    build: async () => renamed("good-leases", "plugin@1.0.0", "plugin@1.0.1"),
  },
  {
    name: "export-other",
    about: "Exports another interface than delegates export.",
    message: "not one that a delegate may have",
    build: async () => renamed("good", "cni:delegate/plugin@", "cni:delegate/plagin@"),
  },
  {
    name: "type-lies-field",
    about: "Has an error record with a signed code.",
    message: "has the type",
    build: async () => withChangedWit("code: u32", "code: s32"),
  },
  {
    name: "type-lies-order",
    about: "Has an error record with its fields in another order.",
    message: "has the type",
    build: async () => withChangedWit("    code: u32,\n    msg: string,", "    msg: string,\n    code: u32,"),
  },
  {
    name: "type-lies-name",
    about: "Has a record with another field name.",
    message: "has the type",
    build: async () => withChangedWit("set: u32", "sat: u32"),
  },
  {
    name: "type-lies-case",
    about: "Has an option in place of the ABI's string.",
    message: "has the type",
    build: async () => withChangedWit("ifname: string", "ifname: option<string>"),
  },
  {
    name: "utf16",
    about: "Encodes strings in UTF-16.",
    message: "UTF-16",
    build: async () => {
      const { componentEmbed, componentNew } = await import("@bytecodealliance/jco");
      const binary = await coreModuleOf(readWat("good").source);
      return declared(
        await componentNew(await componentEmbed({ binary, witSource: abiWit, world: "delegate", stringEncoding: "utf16" }), []),
        "x",
        [],
      );
    },
  },
  {
    name: "section-unknown",
    about: "Has a section with an unknown id.",
    message: "unknown id 42",
    build: async () => changed("good", (it) => [...it, { id: 42, content: new Uint8Array(1) }]),
  },
  {
    name: "section-start",
    about: "Has a component start section.",
    message: "start section",
    build: async () => changed("good", (it) => [...it, { id: 9, content: Uint8Array.of(0, 0, 0) }]),
  },
  {
    name: "section-values",
    about: "Has a value section.",
    message: "section of values",
    build: async () => changed("good", (it) => [...it, { id: 12, content: Uint8Array.of(1, 0x7f, 1, 0) }]),
  },
  {
    name: "section-core-type",
    about: "Has a core type section.",
    message: "core type section",
    build: async () => changed("good", (it) => [{ id: 3, content: Uint8Array.of(0) }, ...it]),
  },
  {
    name: "section-lies-long",
    about: "Has a section that is longer than its content.",
    message: "longer than its content",
    build: async () =>
      changed("good", (it) =>
        it.map((section) =>
          section.id === 10 || section.id === 11
            ? { ...section, content: Buffer.concat([section.content, Uint8Array.of(0)]) }
            : section,
        ),
      ),
  },
  {
    name: "section-mislabelled",
    about: "Has exports in a section with the id of imports.",
    message: "",
    build: async () => changed("good", (it) => it.map((section) => (section.id === 11 ? { ...section, id: 10 } : section))),
  },
  {
    name: "async-builtin",
    about: "Uses a built-in of the asynchronous ABI.",
    message: "canonical built-in",
    build: async () => changed("good", (it) => [...it, { id: 8, content: Uint8Array.of(1, 0x09, 0, 0) }]),
  },
  {
    name: "many-definitions",
    about: "Defines 90000 types.",
    message: "too many",
    build: async () =>
      changed("good", (it) => [
        { id: 7, content: Uint8Array.from([...leb(90_000), ...Array.from({ length: 90_000 }, () => 0x7f)]) },
        ...it,
      ]),
  },
  {
    name: "type-doubles",
    about: "Has 4000 types, each with twice the size of the previous type.",
    message: "does not declare itself",
    build: async () => {
      const types = Array.from({ length: 4000 }, (_, index) =>
        index === 0 ? [0x6f, 1, 0x7f] : [0x6f, 2, ...signedLeb(index - 1), ...signedLeb(index - 1)],
      );
      return binaryOf(await base("good"), [{ id: 7, content: Uint8Array.from([...leb(4000), ...types.flat()]) }]);
    },
  },
  {
    name: "nested-bomb",
    about: "Has nested components whose instances would number millions.",
    message: "definitions",
    build: async () => nestedBomb(),
  },
  {
    name: "core-section-unknown",
    about: "Has a core module with an unknown section.",
    message: "unknown id 14",
    build: async () => withCoreSection(14, [0]),
  },
  {
    name: "core-section-order",
    about: "Has a core module with two memory sections.",
    message: "out of order",
    build: async () => {
      const core = await coreModuleOf(readWat("good").source);
      const sections = sectionsOf(core).flatMap((section) => (section.id === 5 ? [section, section] : [section]));
      return declared(replaceCoreModule(await base("good"), binaryOf(core, sections)), "x", []);
    },
  },
  {
    name: "core-elements-huge",
    about: "Claims 2^32-1 element segments.",
    message: "element segments",
    build: async () => withCoreSection(9, largest),
  },
  {
    name: "core-data-huge",
    about: "Claims 2^32-1 data segments.",
    message: "data segments",
    build: async () => withCoreSection(11, largest),
  },
  {
    name: "core-data-long",
    about: "Has a data segment that claims 2^32-1 bytes.",
    message: "needs 4294967295 bytes",
    build: async () => withCoreSection(11, [1, 0, 0x41, 0, 0x0b, ...largest]),
  },
  {
    name: "core-functions-huge",
    about: "Claims 2^32-1 functions.",
    message: "functions",
    build: async () => withCoreSection(3, largest),
  },
  {
    name: "core-number-long",
    about: "Has a number that needs more than 32 bits.",
    message: "not a 32-bit number",
    build: async () => withCoreSection(3, [0xff, 0xff, 0xff, 0xff, 0x7f]),
  },
  {
    name: "core-locals-huge",
    about: "Has a function that claims 2^32-1 locals.",
    message: "values at branches",
    build: async () => {
      const core = await coreModuleOf(readWat("good").source);
      const body = [1, ...largest, 0x7f, 0x41, 0, 0x0b];
      const count = (sectionsOf(core).find(({ id }) => id === 10)?.content[0] ?? 0) + 0;
      const bodies = Array.from({ length: count }, () => [...leb(body.length), ...body]).flat();
      return withCoreSection(10, [count, ...bodies]);
    },
  },
  {
    name: "core-expression-gc",
    about: "Has a global whose initial value is a GC expression.",
    message: "opcode 0xfb",
    build: async () => withCoreSection(6, [1, 0x7f, 0, 0xfb, 0x1c, 0x0b]),
  },
  {
    name: "declaration-absent",
    about: "Has no declaration.",
    message: "does not declare itself",
    build: async () => base("good"),
  },
  {
    name: "declaration-no-json",
    about: "Has a declaration that is not JSON.",
    message: "not JSON",
    build: async () => withSection(await base("good"), "plexus:delegate", Buffer.from("{name: x}")),
  },
  {
    name: "declaration-twice",
    about: "Has two declarations.",
    message: "a second",
    build: async () => withSection(await declares({}), "plexus:delegate", declaration({})),
  },
  {
    name: "declaration-name",
    about: "Declares a path as its name.",
    message: "name",
    build: async () => declares({ name: "../../etc/passwd" }),
  },
  {
    name: "declaration-about",
    about: "Declares a description with an escape sequence.",
    message: "about",
    build: async () => declares({ about: "\u001B[2J" }),
  },
  {
    name: "declaration-extra",
    about: "Declares an unknown key.",
    message: "declaration",
    build: async () => declares({ privileged: true }),
  },
  {
    name: "declaration-abi",
    about: "Declares another ABI version than its imports have.",
    message: "the declaration says ABI 0.2.0",
    build: async () => declares({ abi: "0.2.0" }),
  },
  {
    name: "declaration-typo",
    about: "Declares a misspelt capability.",
    message: '"leases" was probably meant',
    build: async () => declares({ capabilities: { lease: "why" } }),
  },
  {
    name: "declaration-long",
    about: "Has a declaration of more than 16 KiB.",
    message: "16384",
    build: async () => declares({ about: "x".repeat(20_000) }),
  },
];

// A type index is written as a signed LEB128: bit 6 of its last byte must be clear.
function signedLeb(value: number): number[] {
  const low = value % 128;
  return value < 64 ? [low] : [low + 128, ...signedLeb(Math.floor(value / 128))];
}

// The component of each level instantiates the component of the level below 60 times and aliases an export of each instance.
async function nestedBomb(): Promise<Uint8Array> {
  const preamble = (await base("good")).subarray(0, 8);
  const exported = { id: 11, content: Uint8Array.of(1, 0, 1, 0x61, 3, 0, 0) };
  let inner: Uint8Array = binaryOf(preamble, [{ id: 7, content: Uint8Array.of(1, 0x7f) }, exported]);
  for (let level = 0; level < 4; level += 1) {
    const instances = [60, ...Array.from({ length: 60 }, () => [0, 0, 0]).flat()];
    const aliases = [60, ...Array.from({ length: 60 }, (_, index) => [3, 0, index, 1, 0x61]).flat()];
    inner = binaryOf(preamble, [
      { id: 4, content: inner },
      { id: 5, content: Uint8Array.from(instances) },
      { id: 6, content: Uint8Array.from(aliases) },
      exported,
    ]);
  }
  return declared(inner, "bomb", []);
}
