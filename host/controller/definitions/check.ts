// Checks definitions: each by itself, and those of a namespace together with those of the trusted namespaces. Definitions of two namespaces that are not
// trusted are not compared: a tenant's definition causes no finding about another tenant's, and shows nothing of it.

import { createHash } from "node:crypto";
import { isTrustedNamespace } from "../../../src/configuration/definition-policy.ts";
import { maxFindings, type OmittedFindings } from "../../../src/lint/definition-conditions.ts";
import { definitionStepFindings, type NodePlugins } from "../../../src/lint/definition-steps.ts";
import { finding, type LintFinding, sortedFindings } from "../../../src/lint/finding.ts";
import { examineNetwork, type NetworkFacts } from "../../../src/lint/network-facts.ts";
import { compareNetworks } from "../../../src/lint/network-rules.ts";
import type { Severity } from "../../../src/lint/rules.ts";
import type { StoredObject } from "../../cluster/kube/object-store.ts";
import type { HostSettings } from "../../node/explain/host-settings.ts";
import { originOf } from "../../node/explain/networks.ts";
import { lintDefinition, lintNetworkOf } from "../../node/lint/lint-definition.ts";
import { Turns } from "../work/turns.ts";
import { maxCheckedLength, type StoredDefinition } from "./stored-definition.ts";

/** Ranges of one definition that are compared with other networks. Real ones have a few. */
const maxRanges = 256;
/** Units of work, in characters of a configuration, for a definition that was checked before. */
const knownUnits = 64;

/** The configuration under which definitions are checked. */
export interface CheckTerms {
  readonly settings: HostSettings;
  readonly plugins: NodePlugins;
}

/** The findings about one definition, as far as conditions need them. */
export interface DefinitionFindings {
  readonly findings: readonly LintFinding[];
  readonly omitted: OmittedFindings;
}

/** A definition checked by itself. Its parsed configuration, which may take twenty times its length, is not kept. */
interface OwnCheck extends DefinitionFindings {
  readonly terms: CheckTerms;
  readonly config: string | undefined;
  readonly omittedLength: number;
  readonly facts: NetworkFacts | undefined;
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

  /**
   * The findings about the definitions of a namespace, or of all namespaces (undefined), by `namespace/name`. The work is divided into turns; undefined
   * if it was given up.
   */
  async findingsOf(
    namespace: string | undefined,
    definitions: Iterable<Stored>,
    terms: CheckTerms,
    turns = new Turns(),
  ): Promise<ReadonlyMap<string, DefinitionFindings> | undefined> {
    const { definitions: policy } = terms.settings.configuration;
    const compared: NetworkFacts[] = [];
    const found = new Map<string, { readonly findings: LintFinding[]; readonly omitted: OmittedFindings }>();
    // In the order of names, so that the same definitions always have the same findings.
    const isSubject = (each: Stored): boolean => namespace === undefined || each.namespace === namespace;
    const isCompared = (each: Stored): boolean =>
      isSubject(each) || (policy !== undefined && isTrustedNamespace(policy, each.namespace));
    for (const [key, stored] of sortedByName([...definitions].filter(isCompared))) {
      const isKnown = this.#isKnown(key, stored.value, terms);
      const { facts, findings, omitted } = this.#checkedAlone(key, stored, terms);
      if (isSubject(stored)) found.set(key, { findings: [...findings], omitted });
      if (facts !== undefined) compared.push(facts);
      await turns.pass(isKnown ? knownUnits : knownUnits + (stored.value.config?.length ?? 0));
      if (turns.aborted) return undefined;
    }
    const between = await turns.run(compareNetworks(compared, ({ object }) => found.has(object)));
    for (const each of between) found.get(each.object)?.findings.push(each);
    for (const [key, { findings, omitted }] of found) {
      found.set(key, { findings: [...sortedFindings(findings)], omitted });
      await turns.pass(knownUnits * findings.length);
    }
    return found;
  }

  #isKnown(key: string, { config, omittedLength }: StoredDefinition, terms: CheckTerms): boolean {
    const known = this.#own.get(key);
    return known?.terms === terms && known.config === config && known.omittedLength === omittedLength;
  }

  #checkedAlone(key: string, { namespace, name, value }: Stored, terms: CheckTerms): OwnCheck {
    const known = this.#own.get(key);
    if (known !== undefined && this.#isKnown(key, value, terms)) return known;
    const { config, omittedLength } = value;
    const { facts, findings } = checkAlone(key, namespace, name, value, terms);
    const own = { terms, config, omittedLength, facts, ...firstOf(findings) };
    this.#own.set(key, own);
    return own;
  }
}

/** The findings that a condition shows, and the number of the others. */
function firstOf(findings: readonly LintFinding[]): DefinitionFindings {
  const counts: Partial<Record<Severity, number>> = {};
  const omitted: Partial<Record<Severity, number>> = {};
  const kept = sortedFindings(findings).filter(({ severity }) => {
    const count = (counts[severity] ?? 0) + 1;
    counts[severity] = count;
    if (count > maxFindings) omitted[severity] = count - maxFindings;
    return count <= maxFindings;
  });
  return { findings: kept, omitted };
}

/** Long texts of plugins are not kept for the comparison. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function checkAlone(
  key: string,
  namespace: string,
  name: string,
  { config, omittedLength }: StoredDefinition,
  { settings, plugins }: CheckTerms,
): { readonly facts: NetworkFacts | undefined; readonly findings: readonly LintFinding[] } {
  if (omittedLength > 0) {
    const message = `spec.config has ${omittedLength} characters; plexus-controller checks at most ${maxCheckedLength}`;
    const remedy = "Shorten the configuration.";
    return {
      facts: undefined,
      findings: [finding("invalid-definition", { source: originOf(key, ""), object: key, offset: 0, message, remedy })],
    };
  }
  // A file of each node, which the controller cannot see.
  if (config === undefined) return { facts: undefined, findings: [] };
  const object = { metadata: { namespace, name }, spec: { config } };
  const path = `NetworkAttachmentDefinition ${key}`;
  const manifest = { kind: "NetworkAttachmentDefinition", namespace, name, path, object } as const;
  const { networks, findings } = lintDefinition(manifest, undefined, { settings, cniPath: "" });
  const [read] = networks;
  if (read === undefined) return { facts: undefined, findings };
  const network = lintNetworkOf(read);
  const policy = settings.configuration.definitions;
  const steps = policy === undefined ? [] : definitionStepFindings(network, read.binding?.definition, policy, plugins);
  const examined = examineNetwork(network, digest, maxRanges);
  const { omittedRanges } = examined;
  const message = `has ${omittedRanges + maxRanges} address ranges, of which plexus-controller compares the first ${maxRanges} with other networks`;
  const partly =
    omittedRanges === 0 ? [] : [finding("partly-examined", { source: network.source, object: key, offset: 0, message })];
  return { facts: examined.facts, findings: [...findings, ...steps, ...examined.findings, ...partly] };
}

function sortedByName(definitions: readonly Stored[]): readonly (readonly [string, Stored])[] {
  return definitions
    .map((stored) => [`${stored.namespace}/${stored.name}`, stored] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
