// Reports problems of NetworkAttachmentDefinitions on the definitions themselves: an annotation with conditions, and Events. A
// definition is its user's object: the only write is a merge patch of the annotation, guarded by the resourceVersion, when the findings change.

import { setTimeout } from "node:timers/promises";
import { isTrustedNamespace, trustsEverybody } from "../../../src/configuration/definition-policy.ts";
import { conditionEvents, conditionsAnnotation, conditionsText } from "../../../src/lint/definition-conditions.ts";
import type { ControllerPart, MakePart, PartContext } from "../part.ts";
import { outcomeOf } from "../work/request-outcome.ts";
import { WatchedCollection } from "../watched-collection.ts";
import { Turns } from "../work/turns.ts";
import { observeState, observeWork } from "../work/observe-work.ts";
import { type WorkOutcome, WorkQueue } from "../../cluster/work/work-queue.ts";
import { type CheckTerms, DefinitionChecks } from "./check.ts";
import { componentNeeds, nodePlugins, type PluginNames } from "./component-facts.ts";
import { readSettings } from "./plexus-settings.ts";
import { type StoredDefinition, storedDefinition } from "./stored-definition.ts";

const part = "definitions";
const group = "/apis/k8s.cni.cncf.io/v1";
const workers = 2;
/** Pause after a change in which further changes of the namespace are collected, in ms. */
const collectMs = 500;
/** Interval in ms at which the first list is awaited, and the maximum wait. */
const pollMs = 100;
const maxWaitMs = 60_000;
/** Interval in ms of the reads of the configuration. */
const intervalMs = 2_000;
/** Least time between two writes to a definition, so that another writer of the annotation causes no storm, in ms. */
const minPauseMs = 10_000;
/** Pause after a refused write: a policy of the cluster does not change in a moment. */
const retryPauseMs = 600_000;

const done: WorkOutcome = { kind: "done" };

/** Makes the part. `configuration`: Plexus' configuration, the template that daemons complete. */
export function definitionsPart(configuration: string, plugins: PluginNames): MakePart {
  return (context): ControllerPart => {
    const checks = new DefinitionsPart(context, configuration, plugins);
    return { name: part, run: (signal) => checks.run(signal) };
  };
}

class DefinitionsPart {
  readonly #context: PartContext;
  /** Plexus' configuration: the template that daemons complete. */
  readonly #configuration: string;
  readonly #plugins: PluginNames;
  readonly #needs: ReturnType<typeof componentNeeds>;
  readonly #queue: WorkQueue;
  readonly #definitions: WatchedCollection<StoredDefinition>;
  readonly #checks = new DefinitionChecks();
  /** The annotation that each checked definition shall have. */
  readonly #wanted = new Map<string, string | undefined>();
  /** The time of the last write to each definition, in ms. */
  readonly #writtenAt = new Map<string, number>();
  #terms: CheckTerms | undefined;
  #signal: AbortSignal | undefined;
  #settingsText: string | undefined;
  #lastProblem = "";

  constructor(context: PartContext, configuration: string, plugins: PluginNames) {
    this.#context = context;
    this.#configuration = configuration;
    this.#plugins = plugins;
    this.#needs = knownNeeds(context, plugins);
    this.#queue = new WorkQueue(
      (key) => context.spans.work(part, key, () => this.#work(key)),
      context.clock,
      workers,
      observeWork(context, part),
    );
    this.#definitions = new WatchedCollection(context, {
      what: "checked network-attachment-definitions",
      path: `${group}/network-attachment-definitions`,
      read: storedDefinition,
      onChange: (namespace, name) => this.#changed(namespace, name),
    });
    observeState(context, part, this.#queue, () => [this.#definitions.state]);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#definitions.start(signal);
    const startedAt = this.#context.clock.now();
    // A comparison with a part of the definitions would write findings twice.
    while (!this.#definitions.complete && !signal.aborted && this.#context.clock.now() - startedAt < maxWaitMs) {
      await setTimeout(pollMs);
    }
    this.#readSettings();
    const timer = setInterval(() => this.#readSettings(), intervalMs);
    await this.#queue.run(signal);
    clearInterval(timer);
  }

  /** Reads the configuration. A configuration with a mistake is ignored, and the last valid one stays in force. */
  #readSettings(): void {
    const read = readSettings(this.#configuration, this.#settingsText);
    const problem = read.ok ? "" : read.fault.msg;
    if (problem !== "" && problem !== this.#lastProblem)
      this.#context.log("warn", `definitions are not checked anew: ${problem}`);
    this.#lastProblem = problem;
    if (!read.ok || read.value === undefined) return;
    const { text, settings } = read.value;
    this.#settingsText = text;
    this.#terms = { settings, plugins: nodePlugins(this.#plugins, this.#needs, settings.configuration) };
    this.#addAllNamespaces();
  }

  /** Whether every namespace is trusted: one check then compares all definitions. */
  get #isOneGroup(): boolean {
    const policy = this.#terms?.settings.configuration.definitions;
    return policy !== undefined && trustsEverybody(policy);
  }

  #addNamespace(namespace: string): void {
    this.#queue.add(this.#isOneGroup ? "all" : `namespace ${namespace}`, collectMs);
  }

  #addAllNamespaces(): void {
    if (this.#isOneGroup) {
      this.#queue.add("all", collectMs);
      return;
    }
    for (const namespace of new Set([...this.#definitions.all()].map((each) => each.namespace))) {
      this.#queue.add(`namespace ${namespace}`, collectMs);
    }
  }

  #changed(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const stored = this.#definitions.get(namespace, name);
    const isDue = this.#checks.isDue(key, stored);
    if (stored === undefined) {
      this.#checks.forget(key);
      this.#wanted.delete(key);
      this.#writtenAt.delete(key);
    }
    if (!isDue) {
      this.#queue.add(`definition ${key}`);
      return;
    }
    // The first reading of the configuration makes every namespace due.
    if (this.#terms === undefined) return;
    const policy = this.#terms.settings.configuration.definitions;
    // Each namespace is compared with the trusted ones.
    if (policy !== undefined && isTrustedNamespace(policy, namespace)) this.#addAllNamespaces();
    this.#addNamespace(namespace);
  }

  #work(key: string): Promise<WorkOutcome> {
    const [kind, path = ""] = key.split(" ", 2);
    return kind === "definition" ? this.#write(path) : this.#check(kind === "all" ? undefined : path);
  }

  async #check(namespace: string | undefined): Promise<WorkOutcome> {
    const terms = this.#terms;
    if (terms === undefined) return done;
    const turns = new Turns(this.#signal === undefined ? {} : { signal: this.#signal });
    const found = await this.#checks.findingsOf(namespace, this.#definitions.all(), terms, turns);
    for (const [key, { findings, omitted }] of found ?? []) {
      const [of = "", name = ""] = key.split("/", 2);
      const stored = this.#definitions.get(of, name);
      // A deleted definition needs no conditions. A changed definition is checked again.
      if (stored === undefined) continue;
      this.#wanted.set(key, conditionsText(findings, omitted));
      if (stored.conditions !== this.#wanted.get(key)) this.#queue.add(`definition ${key}`);
      await turns.pass(findings.length + 1);
    }
    return done;
  }

  async #write(key: string): Promise<WorkOutcome> {
    const [namespace = "", name = ""] = key.split("/", 2);
    const stored = this.#definitions.get(namespace, name);
    if (stored === undefined || !this.#wanted.has(key)) return done;
    const wanted = this.#wanted.get(key);
    if (stored.conditions === wanted) return done;
    const pauseMs = (this.#writtenAt.get(key) ?? -Infinity) + minPauseMs - this.#context.clock.now();
    if (pauseMs > 0) return { kind: "again", afterMs: pauseMs };
    const metadata = { resourceVersion: stored.resourceVersion, annotations: { [conditionsAnnotation]: wanted ?? null } };
    const path = `${group}/namespaces/${namespace}/network-attachment-definitions/${name}`;
    const answer = await this.#context.objects.patch(path, { metadata });
    if (answer.kind === "refused") {
      this.#context.log("warn", `${key}: its conditions cannot be written: ${answer.why}`);
      return { kind: "again", afterMs: retryPauseMs };
    }
    if (answer.kind === "object") {
      this.#writtenAt.set(key, this.#context.clock.now());
      const target = { kind: "NetworkAttachmentDefinition", apiVersion: "k8s.cni.cncf.io/v1", eventNamespace: namespace, name };
      for (const event of conditionEvents(stored.conditions, wanted)) {
        this.#context.event({ ...target, uid: stored.uid }, event);
      }
    }
    return outcomeOf(answer);
  }
}

/** The grants that the installed components need; none, with a line in the log, if their directory cannot be read. */
function knownNeeds({ log }: PartContext, plugins: PluginNames): ReturnType<typeof componentNeeds> {
  try {
    return componentNeeds(plugins);
  } catch (error) {
    log(
      "warn",
      `grants are not checked: the components cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return new Map();
  }
}
