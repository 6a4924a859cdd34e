// The bindings of a delegate in AssemblyScript: the world of the contract, under the paths that authors import.

import type { WitModel } from "../../model.ts";
import { docsOf } from "../docs.ts";
import { generate, type Bindings } from "./bindings.ts";

/** The one world that delegates are compiled against. */
export const delegateWorld = "delegate";

/** `plexus/abi/…`, and the entry around `assembly/index.ts`. `wit`: the text of the contract, for its comments. */
export function delegateBindings(model: WitModel, wit: string): Bindings {
  return generate({
    model,
    world: delegateWorld,
    docs: docsOf(wit),
    bindings: "plexus/abi",
    implementation: () => "./assembly/index",
  });
}
