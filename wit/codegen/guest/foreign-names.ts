// A generated file's imports: the types of other interfaces, and the classes of anonymous results and tuples.

import type { TypeRef } from "../../model.ts";
import type { GuestTypes } from "./guest-types.ts";
import { fileName, localType, ownerOf, qualified } from "./names.ts";

/** Spells types in one generated file, and records the imports that the spelling needs. */
export class ForeignNames {
  readonly #types: GuestTypes;
  readonly #bindings: string;
  readonly #own: string | undefined;
  readonly #named = new Set<string>();
  readonly #compounds = new Set<string>();

  /** `bindings`: the import path of the generated files. `own`: the file's interface, whose types need no import. */
  constructor(types: GuestTypes, bindings: string, own?: string) {
    this.#types = types;
    this.#bindings = bindings;
    this.#own = own;
  }

  /** A type in AssemblyScript. */
  readonly show = (type: TypeRef): string => {
    for (const name of this.#types.compoundsIn(type)) this.#compounds.add(name);
    return this.#types.type(type, this.named);
  };

  /** A named type in AssemblyScript. */
  readonly named = (ref: string): string => {
    if (ownerOf(ref) === this.#own) return localType(ref);
    this.#named.add(ref);
    return qualified(ref);
  };

  /** The import statements of a file with this body. */
  lines(body: string): string[] {
    const lines = /\bSome</.test(body) ? ['import { Some } from "plexus/some";'] : [];
    if (this.#compounds.size > 0)
      lines.push(`import { ${[...this.#compounds].sort().join(", ")} } from "${this.#bindings}/compounds";`);
    for (const ref of this.#named)
      lines.push(`import { ${localType(ref)} as ${qualified(ref)} } from "${this.#bindings}/${fileName(ownerOf(ref))}";`);
    return lines;
  }
}
