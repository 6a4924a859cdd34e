// Public keys that sign components, by name, and what the configuration demands of a component's origin: `wasm.require`, and by type.

import { digestPattern, digestWanted } from "../../oci/digest.ts";
import type { ObjectReader } from "../object-reader.ts";
import { key, type ValuesOf } from "../table/key.ts";
import type { Kind, TextRule } from "../table/kind.ts";
import { matching } from "../table/kinds.ts";
import { listOf } from "../table/lists.ts";
import { named, section } from "../table/section.ts";

/** The name of a key. */
export const keyNameRule: TextRule = {
  pattern: /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/,
  wanted: "the name of a key: 1 to 63 letters, digits, _, . and -, the first a letter or a digit",
};

/** The digest of a component's bytes. */
export const digestRule: TextRule = { pattern: digestPattern, wanted: digestWanted };

/** A public key: an absolute path, or the key itself as PEM. */
const publicKey = matching({
  pattern: /^(?:\/[^\0]*|\s*-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{16,4096}-----END PUBLIC KEY-----\s*)$/,
  wanted: "a public key in PEM (-----BEGIN PUBLIC KEY-----), or the absolute path of such a file",
});

/** Public keys by name: a PEM text, or the absolute path of such a file. */
export type PublicKeys = Readonly<Record<string, string>>;

/** The kind of public keys by name. */
export const publicKeys: Kind<PublicKeys> = named(publicKey, {
  pattern: keyNameRule.pattern,
  wrong: `must be ${keyNameRule.wanted}`,
});

/** The demands of one type's grants on the component. */
export const demandKeys = {
  digest: key({
    kind: matching(digestRule),
    about: "SHA-256 of the component's file. A component with other bytes is refused, in definitions' networks, too.",
    // No component meets a malformed demand, and a DEL continues in spite of the mistake.
    mistaken: "",
  }),
  signedBy: key({
    kind: matching(keyNameRule),
    about:
      "Name of the key in wasm.keys that must have signed the component's manifest (cosign). The signature stands in TYPE.wasm.signatures.json beside the component, where plexusctl component pull puts it.",
    mistaken: "",
  }),
  require: key<false>({
    kind: {
      read: (reader, at) => {
        const isFalse = reader.value(at) === false;
        if (!isFalse) reader.refuse(at, "must be false, which exempts the type from wasm.require, or absent");
        return isFalse ? false : undefined;
      },
      schema: () => ({ type: "boolean", const: false }),
    },
    about: "Exempts the type from wasm.require. A digest or signedBy of the type's own also takes the place of wasm.require.",
  }),
};

/** Properties that the component of a type must have in every network: all that are given. */
export type ComponentDemand = Pick<ValuesOf<typeof demandKeys>, "digest" | "signedBy">;

/** Properties of which every component of the node must have one. With both lists empty no component meets the requirement. */
export interface ComponentRequirement {
  readonly anyOf: {
    /** Names of public keys. */
    readonly signedBy: readonly string[];
    /** Digests of components' bytes. */
    readonly digests: readonly string[];
  };
}

const requirementKeys = {
  signedBy: key({
    kind: listOf(keyNameRule),
    about: "Names of keys in wasm.keys. A signature by one of them is enough.",
  }),
  digests: key({
    kind: listOf(digestRule),
    about: "SHA-256 of the files of components that may run without a signature.",
  }),
};

/** The kind of `wasm.require`. A malformed requirement stays one that fewer components meet, or none. */
export const requirement: Kind<ComponentRequirement> = section(requirementKeys, {
  finish: ({ signedBy = [], digests = [] }): ComponentRequirement => ({ anyOf: { signedBy, digests } }),
});

/** The requirement that no component meets. */
export const unmeetable: ComponentRequirement = { anyOf: { signedBy: [], digests: [] } };

/** Notes a name at `place` below the reader's object that `keys` lacks. The empty name stands for a mistake that is noted already. */
export function checkKeyName(reader: ObjectReader, place: string, name: string, keys: PublicKeys): void {
  if (name === "" || Object.hasOwn(keys, name)) return;
  const known = Object.keys(keys);
  reader.refuse(place, `wasm.keys has no key ${name} (it has ${known.length === 0 ? "none" : known.join(", ")})`);
}
