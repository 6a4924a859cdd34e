// Checks definitions: each by itself, and those of a namespace together with those of the trusted namespaces. Definitions of two namespaces that are not
// trusted are not compared: a tenant's definition causes no finding about another tenant's, and shows nothing of it.

import { isTrustedNamespace } from "../../../src/configuration/definition-policy.ts";
import { finding, type LintFinding, type LintNetwork, sortedFindings } from "../../../src/lint/finding.ts";
import { definitionStepFindings, type NodePlugins } from "../../../src/lint/definition-steps.ts";
import { lintNetworks } from "../../../src/lint/network-rules.ts";
import { originOf } from "../../node/explain/networks.ts";
import type { HostSettings } from "../../node/explain/host-settings.ts";
import { lintDefinition, lintNetworkOf } from "../../node/lint/lint-definition.ts";
import type { StoredObject } from "../../cluster/kube/object-store.ts";
import { maxCheckedLength, type StoredDefinition } from "./stored-definition.ts";

/** The configuration under which definitions are checked. */
export interface CheckTerms {
  readonly settings: HostSettings;
  readonly plugins: NodePlugins;
}

/** A definition checked by itself. */
interface OwnCheck {
  readonly terms: CheckTerms;
  readonly config: string | undefined;
  readonly omittedLength: number;
  readonly network: LintNetwork | undefined;
  readonly findings: readonly LintFinding[];
}

type Stored = StoredObject<StoredDefinition>;

/** Checks of definitions by `namespace/name`; each is repeated only for another configuration. */
export class DefinitionChecks {
  readonly #own = new Map<string, OwnCheck>();

  /** Whether the definition changed since its last check, or was never checked. */
  isDue(key: string, stored: StoredDefinition | undefined): boolean {
    const own = this.#own.get(key);
    return (
      own === undefined || stored === undefined || own.config !== stored.config || own.omittedLength !== stored.omittedLength
    );
  }

  /** Forgets a definition that is gone. */
  forget(key: string): void {
    this.#own.delete(key);
  }

  /** The findings about the definitions of a namespace, or of all namespaces (undefined), by `namespace/name`. */
  findingsOf(
    namespace: string | undefined,
    definitions: Iterable<Stored>,
    terms: CheckTerms,
  ): ReadonlyMap<string, readonly LintFinding[]> {
    const { definitions: policy } = terms.settings.configuration;
    const compared: LintNetwork[] = [];
    const found = new Map<string, LintFinding[]>();
    // In the order of names, so that the same definitions always have the same findings.
    const isSubject = (each: Stored): boolean => namespace === undefined || each.namespace === namespace;
    const isCompared = (each: Stored): boolean =>
      isSubject(each) || (policy !== undefined && isTrustedNamespace(policy, each.namespace));
    for (const [key, stored] of sortedByName([...definitions].filter(isCompared))) {
      const { network, findings } = this.#checkedAlone(key, stored, terms);
      if (isSubject(stored)) found.set(key, [...findings]);
      if (network !== undefined) compared.push(network);
    }
    const own = new Set(found.keys());
    for (const each of lintNetworks(compared, ({ object }) => own.has(object))) found.get(each.object)?.push(each);
    return new Map([...found].map(([key, findings]) => [key, sortedFindings(findings)]));
  }

  #checkedAlone(key: string, { namespace, name, value }: Stored, terms: CheckTerms): OwnCheck {
    const known = this.#own.get(key);
    const { config, omittedLength } = value;
    if (known?.terms === terms && known.config === config && known.omittedLength === omittedLength) return known;
    const own = { terms, config, omittedLength, ...checkAlone(key, namespace, name, value, terms) };
    this.#own.set(key, own);
    return own;
  }
}

function checkAlone(
  key: string,
  namespace: string,
  name: string,
  { config, omittedLength }: StoredDefinition,
  { settings, plugins }: CheckTerms,
): Pick<OwnCheck, "network" | "findings"> {
  if (omittedLength > 0) {
    const message = `spec.config has ${omittedLength} characters; plexus-controller checks at most ${maxCheckedLength}`;
    const remedy = "Shorten the configuration.";
    return {
      network: undefined,
      findings: [finding("invalid-definition", { source: originOf(key, ""), object: key, offset: 0, message, remedy })],
    };
  }
  // A file of each node, which the controller cannot see.
  if (config === undefined) return { network: undefined, findings: [] };
  const object = { metadata: { namespace, name }, spec: { config } };
  const path = `NetworkAttachmentDefinition ${key}`;
  const manifest = { kind: "NetworkAttachmentDefinition", namespace, name, path, object } as const;
  const { networks, findings } = lintDefinition(manifest, undefined, { settings, cniPath: "" });
  const [read] = networks;
  if (read === undefined) return { network: undefined, findings };
  const network = lintNetworkOf(read);
  const policy = settings.configuration.definitions;
  const steps = policy === undefined ? [] : definitionStepFindings(network, read.binding?.definition, policy, plugins);
  return { network, findings: [...findings, ...steps] };
}

function sortedByName(definitions: readonly Stored[]): readonly (readonly [string, Stored])[] {
  return definitions
    .map((stored) => [`${stored.namespace}/${stored.name}`, stored] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
