// The parts of features that work in the daemon beside the calls.

import type { ResidentContext, ResidentPart, ResidentSettings, SeenLinks } from "../../../features/resident-part.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Pod } from "../../../src/npwg/pod.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { CallRecorder } from "../../engine/events/call-events.ts";
import { hasKey } from "../../engine/planned/feature-hooks.ts";
import type { InterfaceChanges } from "../../../features/container-changes.ts";

/** The answers of a build without a feature that changes running containers. */
const noChanges: InterfaceChanges = {
  attach: async () => failed(fault("HOT_PLUG_UNAVAILABLE", "this build of Plexus changes no running container")),
  detach: async () => failed(fault("HOT_PLUG_UNAVAILABLE", "this build of Plexus changes no running container")),
  repair: async () => failed(fault("HOT_PLUG_UNAVAILABLE", "this build of Plexus changes no running container")),
};

/** The parts of one daemon. Before `make` there are none, and nothing is told. */
export class ResidentParts {
  readonly #settings: readonly ResidentSettings[];
  #parts: readonly ResidentPart[] = [];
  readonly #off = new Map<string, Set<ResidentPart>>();

  constructor(settings: readonly ResidentSettings[]) {
    this.#settings = settings;
  }

  /** The paths of the sockets on which the parts listen. */
  get sockets(): readonly string[] {
    return this.#settings.flatMap(({ sockets }) => sockets);
  }

  /** The parts that the status names, with their states. */
  get sentences(): readonly { readonly name: string; readonly sentence: () => string }[] {
    return this.#settings.flatMap(({ statusName }, index) =>
      statusName === undefined ? [] : [{ name: statusName, sentence: () => this.#parts[index]?.sentence ?? "starts" }],
    );
  }

  /** Makes the parts. */
  async make(context: Omit<ResidentContext, "linksSeen">): Promise<void> {
    const linksSeen = (seen: SeenLinks): void => {
      for (const part of this.#parts) part.linksSeen?.(seen);
    };
    this.#parts = await Promise.all(this.#settings.map(({ make }) => make({ ...context, linksSeen })));
  }

  /** Listens on the parts' sockets. Fault DAEMON_SOCKET of the first part that cannot. */
  async listen(): Promise<Result<void>> {
    for (const part of this.#parts) {
      const listens = await part.listen?.();
      if (listens?.ok === false) return listens;
    }
    return ok(undefined);
  }

  /** Begins the parts' work. */
  start(): void {
    for (const part of this.#parts) void part.start?.();
  }

  /** Ends the parts' work; see `ResidentPart.stop`. */
  async stop(maxMs: number): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.stop?.(maxMs)));
  }

  /** Closes the parts' sockets and watches. */
  close(): void {
    for (const part of this.#parts) part.close?.();
  }

  agentConnected(): void {
    for (const part of this.#parts) part.agentConnected?.();
  }

  /** Tells the parts of a call that has ended. A part that is off stays out of an ordinary ADD. */
  noteCall(...call: Parameters<NonNullable<ResidentPart["noteCall"]>>): void {
    const [configuration, environment] = call;
    const isAdd = environment.get("CNI_COMMAND") === "ADD";
    const off = this.#offOf(configuration);
    for (const part of this.#parts) {
      const isOff = part.key !== undefined && !hasKey(configuration, part.key);
      const wasOff = off.has(part);
      if (isOff) off.add(part);
      else off.delete(part);
      if (!(isAdd && isOff && wasOff)) part.noteCall?.(...call);
    }
  }

  /** The parts that were off in the call before with the configuration's name and state directory. */
  #offOf({ cniDir, name }: HostConfiguration): Set<ResidentPart> {
    const source = `${cniDir} ${name}`;
    const off = this.#off.get(source) ?? new Set();
    this.#off.set(source, off);
    return off;
  }

  podChanged(namespace: string, name: string, pod: Pod | undefined): void {
    for (const part of this.#parts) part.podChanged?.(namespace, name, pod);
  }

  /** The recorders of calls that clients of the daemon ask for. */
  get recorders(): readonly CallRecorder[] {
    return this.#parts.flatMap(({ recordCall }) => (recordCall === undefined ? [] : [{ record: recordCall }]));
  }

  /** The parts' answers to requests on the status socket, by path. */
  get pages(): NonNullable<ResidentPart["pages"]> {
    return Object.assign({}, ...this.#parts.map(({ pages }) => pages));
  }

  /** Changes of running containers that clients ask for. */
  get changes(): InterfaceChanges {
    return this.#parts.find(({ changes }) => changes !== undefined)?.changes ?? noChanges;
  }

  /** The judge of the part that has policies. */
  get judge(): ResidentPart["judge"] {
    return this.#parts.find(({ judge }) => judge !== undefined)?.judge;
  }

  /** The finder of the part that has Services. */
  get endpoints(): ResidentPart["endpoints"] {
    return this.#parts.find(({ endpoints }) => endpoints !== undefined)?.endpoints;
  }
}
