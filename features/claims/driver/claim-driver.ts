// The driver of resource claims in the daemon: its socket for the kubelet, the node's ResourceSlices, and the claims' statuses.

import { ok, type Result } from "../../../src/fault/result.ts";
import { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import type { RpcServer } from "../../../host/node/grpc/rpc-server.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import type { ResidentContext } from "../../resident-part.ts";
import { ClaimStore } from "../node/claim-store.ts";
import { ClaimSweeps } from "../node/claim-sweeps.ts";
import { sweepClaims } from "../node/sweep-claims.ts";
import type { OfferedDevice } from "../rules/offered-devices.ts";
import { NodeDevices } from "../slices/node-devices.ts";
import { SlicePublisher } from "../slices/publish-slices.ts";
import { ReachedNetworks } from "../slices/reached-networks.ts";
import { ClaimReports } from "../status/report-claims.ts";
import { DeviceFiles } from "./device-files.ts";
import { serveDriver } from "./driver-server.ts";

/** The driver's options. */
export interface ClaimOptions {
  /** The path of the driver's socket. */
  readonly socket: string;
  /** The file of the node's devices. */
  readonly devices: string;
  /** Whether PodNetworks name devices. */
  readonly podNetworks: boolean;
  /** The runtime's directory of CDI specifications; undefined: the driver writes none. */
  readonly cdiDirectory: string | undefined;
}

type DriverInit = ResidentContext & { readonly nodeName: string };

/** The driver of one node. */
export class ClaimDriver {
  /** The statuses of the node's claims. */
  readonly reports: ClaimReports;
  readonly #options: ClaimOptions;
  readonly #init: DriverInit;
  readonly #devices: NodeDevices;
  readonly #store: ClaimStore;
  readonly #files: DeviceFiles;
  readonly #journal: Journal;
  readonly #publisher: SlicePublisher;
  readonly #sweeps: ClaimSweeps;
  #objects: ApiObjects | undefined;
  #networks: ReachedNetworks | undefined;
  #server: RpcServer | undefined;
  #isRegistered = false;

  constructor(options: ClaimOptions, init: DriverInit) {
    const { nodeName, stateDirectory, clock, log } = init;
    const api = (): Promise<ApiObjects | undefined> => this.#api();
    this.#options = options;
    this.#init = init;
    this.#store = new ClaimStore(stateDirectory);
    this.#files = new DeviceFiles(options.cdiDirectory);
    this.#journal = new Journal(stateDirectory);
    this.#devices = new NodeDevices(
      options.devices,
      (text) => log("warn", text),
      () => this.#networks?.all ?? [],
    );
    const look = (): readonly OfferedDevice[] => this.#devices.look();
    this.#publisher = new SlicePublisher({ nodeName, api, look, isReady: () => this.#isReady, log, now: clock.now });
    this.#sweeps = new ClaimSweeps(() => this.#sweep(), log);
    this.reports = new ClaimReports(this.#store, api, this.#journal, clock, log);
  }

  /** The state in one line, for the daemon's status. */
  get sentence(): string {
    const failure = this.#isReady ? this.#publisher.failure : "the PodNetworks are not listed yet";
    const state = failure === "" ? "" : `; the slices are not current: ${failure}`;
    const registration = this.#isRegistered ? "registered with the kubelet" : "waits for the kubelet";
    return `${registration}; ${this.#devices.devices.length} devices${state}`;
  }

  /** Listens on the driver's socket. Fault DAEMON_SOCKET. */
  async listen(): Promise<Result<void>> {
    const { nodeName, uids, clock, log } = this.#init;
    this.#store.removeTemporary();
    const served = await serveDriver({
      nodeName,
      api: () => this.#api(),
      store: this.#store,
      files: this.#files,
      device: (name) => this.#device(name),
      socket: this.#options.socket,
      uids,
      clock,
      log,
      onRegistered: () => {
        this.#isRegistered = true;
        this.#publisher.renew();
      },
    });
    if (!served.ok) return served;
    this.#server = served.value;
    return ok(undefined);
  }

  /** Begins to publish slices and statuses, and removes prepared claims that the API does not have. */
  async start(): Promise<void> {
    if (this.#options.podNetworks) await this.#watchNetworks();
    this.#publisher.start();
    await this.reports.start();
    await this.#sweeps.start();
  }

  /** Ends the work for the API; the kubelet is still served. */
  stop(): void {
    this.#publisher.stop();
    this.#sweeps.stop();
    this.#networks?.stop();
    this.reports.stop();
  }

  /** Closes the driver's socket. */
  close(): void {
    this.#server?.close();
  }

  /** Whether all networks are known that decide about devices. */
  get #isReady(): boolean {
    return !this.#options.podNetworks || this.#networks?.isListed === true;
  }

  async #api(): Promise<ApiObjects | undefined> {
    const access = this.#objects === undefined ? await this.#init.apiFromStart() : undefined;
    if (access !== undefined) this.#objects = new ApiObjects({ ...access, requestMs: 10_000 });
    return this.#objects;
  }

  async #sweep(): Promise<Result<number> | undefined> {
    const api = await this.#api();
    return api && sweepClaims({ store: this.#store, files: this.#files, journal: this.#journal, api });
  }

  async #watchNetworks(): Promise<void> {
    const access = await this.#init.apiFromStart();
    if (access === undefined) return;
    const warn = (text: string): void => this.#init.log("warn", text);
    this.#networks = new ReachedNetworks({ ...access, warn }, () => void this.#publisher.round());
  }

  #device(name: string): OfferedDevice | undefined {
    const isNamed = (each: OfferedDevice): boolean => each.name === name;
    // A link may have come since the last look, which reads sysfs for each link of the node.
    return this.#devices.devices.find(isNamed) ?? this.#devices.look().find(isNamed);
  }
}
