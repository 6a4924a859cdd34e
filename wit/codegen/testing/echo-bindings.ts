// The bindings of a guest that answers each call with what the host's function of the same name answers.

import type { WitModel } from "../../model.ts";
import { docsOf } from "../docs.ts";
import { generate, type Bindings } from "../guest/bindings.ts";
import { fileName } from "../guest/names.ts";

/** The directory of the generated files in an echo guest. */
export const bindingsAt = "assembly/generated";

/** The bindings of a world as an echo guest imports them: an imported interface implements the exported one of the same name. */
export function echoBindings(model: WitModel, world: string, wit: string): Bindings {
  return generate({
    model,
    world,
    docs: docsOf(wit),
    bindings: `./${bindingsAt}`,
    implementation: (iface) => `./${bindingsAt}/${fileName(iface)}`,
  });
}
